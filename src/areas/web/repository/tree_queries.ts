/** Reading a folder for display. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import { type Html, type PageCall, pagingOf } from '../../../pages/index.ts';
import { LastCommit, readmeAmong, TreeObject } from '../../code/repository/index.ts';
import { fileToShow } from './file_queries.ts';
import { textHtml } from './markdown_present.ts';
import { type RefPath, refNames } from './ref_queries.ts';
import type { ShownRefs } from './ref_views.ts';

export interface ShownFolder {
  place: RefPath;
  entries: ListPage<Static<typeof TreeObject>>;
  /** The last commits of entries by their names, as far as they were available immediately. */
  commits: ReadonlyMap<string, Static<typeof LastCommit>['commit']>;
  /** The README of the folder. */
  readme: { name: string; html: Html } | undefined;
  refs: ShownRefs;
}

/** A folder on the way to a file. */
export interface Level {
  folder: string;
  entries: ListPage<Static<typeof TreeObject>>;
}

const entriesOnPage = 100;

/** @throws ApiError 404 if the location is not a folder */
export async function folderToShow(call: PageCall, place: RefPath): Promise<ShownFolder> {
  const [entries, refs] = await Promise.all([entriesOf(call, place, place.path, pagingOf(call)), refNames(call)]);
  const files = entries.items.filter(({ type, mode }) => type === 'blob' && mode !== '120000');
  const name = readmeAmong(files.map((file) => file.name)) ?? (entries.has_more ? 'README.md' : undefined);
  const [commits, readme] = await Promise.all([
    commitsOf(call, place, entries.items),
    name === undefined ? undefined : readmeOf(call, place, name),
  ]);
  return { place, entries, commits, readme, refs };
}

const entriesOf = ({ list }: PageCall, { commit }: RefPath, path: string, paging: object = {}) =>
  list(TreeObject, 'listRepositoryTree', { ref: commit.id, path, per_page: entriesOnPage, ...paging });

/** The folders beside a file: the root, and the last ones on the way to it. */
const mostLevels = 6;

/** The folders on the way to a file. */
export async function levelsTo(call: PageCall, place: RefPath): Promise<Level[]> {
  const parts = place.path.split('/').slice(0, -1);
  const folders = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  const shown = ['', ...folders].slice(0, mostLevels);
  return Promise.all(shown.map(async (folder) => ({ folder, entries: await entriesOf(call, place, folder) })));
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
