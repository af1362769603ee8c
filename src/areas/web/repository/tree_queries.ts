/** Reading a folder for display. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import { type Html, type PageCall, pagingOf } from '../../../pages/index.ts';
import { LastCommit, readmeAmong, TreeObject } from '../../code/repository/index.ts';
import { fileToShow } from './file_queries.ts';
import { textHtml } from './markdown_present.ts';
import type { RefPath } from './ref_queries.ts';

export interface ShownFolder {
  place: RefPath;
  entries: ListPage<Static<typeof TreeObject>>;
  /** The last commits of entries by their names, as far as they were available immediately. */
  commits: ReadonlyMap<string, Static<typeof LastCommit>['commit']>;
  /** The README of the folder. */
  readme: { name: string; html: Html } | undefined;
}

const entriesOnPage = 100;

/** @throws ApiError 404 if the location is not a folder */
export async function folderToShow(call: PageCall, place: RefPath): Promise<ShownFolder> {
  const entries = await call.list(TreeObject, 'listRepositoryTree', {
    ref: place.commit.id,
    path: place.path,
    per_page: entriesOnPage,
    ...pagingOf(call),
  });
  const files = entries.items.filter(({ type, mode }) => type === 'blob' && mode !== '120000');
  const name = readmeAmong(files.map((file) => file.name)) ?? (entries.has_more ? 'README.md' : undefined);
  const [commits, readme] = await Promise.all([
    commitsOf(call, place, entries.items),
    name === undefined ? undefined : readmeOf(call, place, name),
  ]);
  return { place, entries, commits, readme };
}

async function commitsOf({ all }: PageCall, { commit, path }: RefPath, entries: ShownFolder['entries']['items']) {
  const names = entries.map(({ name }) => name);
  const found = await all(LastCommit, 'listLastCommits', { commit_id: commit.id, path, names });
  return new Map(found.map((each) => [each.name, each.commit]));
}

async function readmeOf(call: PageCall, place: RefPath, name: string): Promise<ShownFolder['readme']> {
  const path = place.path === '' ? name : `${place.path}/${name}`;
  const file = await call.perhaps(fileToShow(call, path, place.commit.id));
  return file?.text === undefined ? undefined : { name, html: await textHtml(call, place, file) };
}
