/** Creates, changes and deletes pages; each change is a commit (docs/reference/wikis.md#changes). */
import { entryAt, lastCommitOf } from '../../../git/index.ts';
import { badRequest, conflict, found, invalid, type Services } from '../../../http/index.ts';
import { type Changing, commitToWiki } from './commit_actions.ts';
import { type ReadPage, readAbout, readPage, withContent } from './content_git.ts';
import { openWiki } from './creation_actions.ts';
import { wikiOf } from './git.ts';
import { wikiRepositories } from './kind.ts';
import { type Page, pageAt, type Version } from './page_git.ts';
import { shownTitle } from './present.ts';
import { type Format, pageIn, pathOf, retitled, titled } from './rules.ts';

export const duplicate = 'Duplicate page: A page with that title already exists';

/** @param verb in the past tense, such as `created` */
const messageFor = ({ caller }: Changing, verb: string, title: string): string =>
  `${caller.username} ${verb} page: ${title}`;

/** The page in a file that was just written. */
async function written(services: Services, version: Version, path: string, content?: Buffer): Promise<ReadPage> {
  const { id: blob_id } = (await entryAt(version.repository, version.commit_id, path))!;
  const page: Page = { path, blob_id, ...pageIn(path)! };
  return content ? withContent(version, page, content) : readPage(services.db, version, page);
}

interface NewPage {
  title: string;
  format: Format;
  content: Buffer;
  /** The commit message. */
  message?: string | undefined;
}

/**
 * Creates a page. The first page also creates the repository of the wiki.
 * @throws ApiError 400 for an invalid title, or one in use
 */
export async function createPage(services: Services, changing: Changing, page: NewPage): Promise<ReadPage> {
  const { content, format } = page;
  const { title, slug } = titled(page.title);
  const wiki = await openWiki(services, wikiRepositories, changing.place);
  const path = pathOf(slug, format);
  const version = await commitToWiki(services, { ...changing, wiki }, wiki.default_branch, async (before) => {
    if (before && (await pageAt(before, slug))) throw badRequest(duplicate);
    const message = page.message ?? messageFor(changing, 'created', title);
    return { message, actions: [{ action: 'create', file_path: path, content }] };
  });
  return written(services, version, path, content);
}

export const pageNoun = 'Wiki Page';

/** @throws ApiError 404 if the page does not exist, 409 if its last commit is not the one that the caller knows */
async function pageToChange(version: Version, slug: string, last_commit_sha: string | undefined): Promise<Page> {
  const page = found(pageNoun, await pageAt(version, slug));
  if (last_commit_sha === undefined) return page;
  const last = await lastCommitOf(version.repository, version.commit_id, page.path);
  if (last !== last_commit_sha.toLowerCase()) throw conflict('409 Conflict: the page has changed');
  return page;
}

export interface PageChanges {
  title?: string | undefined;
  format?: Format | undefined;
  content?: Buffer | undefined;
  message?: string | undefined;
  last_commit_sha?: string | undefined;
}

/** The path of a page after a change, and its new title. Sending the shown title unchanged does not rename the page. */
async function renamed(version: Version, page: Page, { title, format = page.format }: PageChanges) {
  const shown = shownTitle(await readAbout(version, page));
  const to =
    title === undefined || title.trim() === shown ? { title: shown, slug: page.slug } : retitled(page.slug, title);
  const path = to.slug === page.slug && format === page.format ? page.path : pathOf(to.slug, format);
  const other = to.slug === page.slug ? undefined : await pageAt(version, to.slug);
  if (other && other.path !== page.path) throw invalid({ title: ['already exists'] });
  return { title: to.title, path };
}

/**
 * Changes a page. Its file is renamed when its title or its format changes.
 * @throws ApiError 400 for an invalid title, or one in use by another page; 404 and 409 as `pageToChange`
 */
export async function changePage(
  services: Services,
  changing: Changing,
  slug: string,
  changes: PageChanges,
): Promise<ReadPage> {
  const { content, message, last_commit_sha } = changes;
  const wiki = found(pageNoun, await wikiOf(services.db, changing.place));
  let path = '';
  const version = await commitToWiki(services, { ...changing, wiki }, wiki.default_branch, async (newest) => {
    const before = found(pageNoun, newest);
    const page = await pageToChange(before, slug, last_commit_sha);
    const after = await renamed(before, page, changes);
    path = after.path;
    const planned = { message: message ?? messageFor(changing, 'updated', after.title) };
    if (path !== page.path)
      return { ...planned, actions: [{ action: 'move', previous_path: page.path, file_path: path, content }] };
    return { ...planned, actions: content ? [{ action: 'update', file_path: path, content }] : [] };
  });
  return written(services, version, path, content);
}

/**
 * Deletes a page.
 * @throws ApiError 404 and 409 as `pageToChange`
 */
export async function removePage(
  services: Services,
  changing: Changing,
  slug: string,
  { message, last_commit_sha }: Pick<PageChanges, 'message' | 'last_commit_sha'>,
): Promise<void> {
  const wiki = found(pageNoun, await wikiOf(services.db, changing.place));
  await commitToWiki(services, { ...changing, wiki }, wiki.default_branch, async (newest) => {
    const before = found(pageNoun, newest);
    const page = await pageToChange(before, slug, last_commit_sha);
    const title = shownTitle(await readAbout(before, page));
    return {
      message: message ?? messageFor(changing, 'deleted', title),
      actions: [{ action: 'delete', file_path: page.path }],
    };
  });
}
