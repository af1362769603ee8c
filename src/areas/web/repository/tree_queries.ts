/** Reading a folder to show it. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import { type Html, type PageCall, pagingOf } from '../../../pages/index.ts';
import { TreeObject } from '../../code/repository/index.ts';
import { fileToShow } from './file_queries.ts';
import { isReadme, textHtml } from './markdown_present.ts';
import type { RefPath } from './ref_queries.ts';

export interface ShownFolder {
  place: RefPath;
  entries: ListPage<Static<typeof TreeObject>>;
  /** What the folder says about itself. */
  readme: { name: string; html: Html } | undefined;
}

const entriesOnPage = 100;

/** @throws ApiError 404 if the place is no folder */
export async function folderToShow(call: PageCall, place: RefPath): Promise<ShownFolder> {
  const entries = await call.list(TreeObject, 'listRepositoryTree', {
    ref: place.commit.id,
    path: place.path,
    per_page: entriesOnPage,
    ...pagingOf(call),
  });
  const found = entries.items.find(({ name, type, mode }) => type === 'blob' && mode !== '120000' && isReadme(name));
  const name = found?.name ?? (entries.has_more ? 'README.md' : undefined);
  return { place, entries, readme: name === undefined ? undefined : await readmeOf(call, place, name) };
}

async function readmeOf(call: PageCall, place: RefPath, name: string): Promise<ShownFolder['readme']> {
  const path = place.path === '' ? name : `${place.path}/${name}`;
  const file = await call.perhaps(fileToShow(call, path, place.commit.id));
  return file?.text === undefined ? undefined : { name, html: await textHtml(call, place, file) };
}
