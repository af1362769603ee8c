/** Changes of wikis through the API: each is a commit (docs/reference/wikis.md). */
import { randomBytes } from 'node:crypto';
import type { WikiPlace } from '../../../access/index.ts';
import { isForeignKeyViolation } from '../../../db/index.ts';
import { entryAt, lastCommitOf, resolveBranch } from '../../../git/index.ts';
import {
  badRequest,
  type Caller,
  conflict,
  found,
  invalid,
  notFound,
  type Services,
  type UploadedFile,
} from '../../../http/index.ts';
import { storedName } from '../../../markdown/index.ts';
import { bytesOf } from '../../instance/blobs/index.ts';
import { changesFor, type FileAction, inTurn, moveRefs, writeChanges } from '../repository/index.ts';
import { type ReadPage, readAbout, readPage, withContent } from './content_queries.ts';
import { nounOf, openWiki } from './creation_actions.ts';
import { changeRefusals, wikiRepositories } from './kind.ts';
import { type Page, pageAt, type Version } from './page_queries.ts';
import { shownTitle } from './present.ts';
import { repositoryOfWiki, type Wiki, wikiOf } from './queries.ts';
import { attachmentPath, type Format, pageIn, pathOf, retitled, titled } from './rules.ts';

/** Who changes which wiki. */
export interface Changing {
  place: WikiPlace;
  caller: Caller;
}

/** What a change commits, once it is known what there is. */
interface Planned {
  message: string;
  /** None when nothing changes. */
  actions: readonly FileAction[];
}

export const noBranch = 'You can only create or edit files when you are on a branch';

/**
 * Commits a change to a branch of a wiki, queued behind others.
 * @param plan is called again when the branch has moved in the meantime; undefined stands for a branch that is not there yet
 * @returns the version after the change
 */
function commit(
  services: Services,
  { wiki, caller, place }: Changing & { wiki: Wiki },
  branch: string,
  plan: (version: Version | undefined) => Promise<Planned>,
): Promise<Version> {
  const repository = repositoryOfWiki(services, wiki);
  const versionAt = (commit_id: string): Version => ({ repository, wiki_id: wiki.id, commit_id });
  return inTurn(repository, branch, async () => {
    const head = await resolveBranch(repository, branch);
    if (head === undefined && branch !== wiki.default_branch) throw badRequest(noBranch);
    const { message, actions } = await plan(head === undefined ? undefined : versionAt(head));
    if (head !== undefined && actions.length === 0) return versionAt(head);
    const parent = head ?? null;
    const person = { name: caller.name, email: caller.commit_email, date: new Date() };
    const changes = await changesFor(repository, parent, actions);
    const people = { author: person, committer: person };
    const written = await writeChanges(repository, { parent, message, changes, ...people, object_format: 'sha1' });
    if (head !== undefined && !written.is_changed) return versionAt(head);
    const updates = [{ ref: `refs/heads/${branch}`, old: parent, new: written.id }];
    const [refused] = await changeRefusals(services, { wiki, caller }, { updates });
    if (refused !== undefined) throw badRequest(refused);
    await moveRefs(services, { kind: wikiRepositories, owner: wiki, user_id: caller.id }, updates).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? notFound(nounOf(place)) : error;
    });
    return versionAt(written.id);
  });
}

export const duplicate = 'Duplicate page: A page with that title already exists';

/** @param verb as in the past tense: `created` */
const messageFor = ({ caller }: Changing, verb: string, title: string): string => `${caller.username} ${verb} page: ${title}`;

/** The page in a file that has just been written. */
async function written(services: Services, version: Version, path: string, content?: Buffer): Promise<ReadPage> {
  const { id: blob_id } = (await entryAt(version.repository, version.commit_id, path))!;
  const page: Page = { path, blob_id, ...pageIn(path)! };
  return content ? withContent(version, page, content) : readPage(services.db, version, page);
}

interface NewPage {
  title: string;
  format: Format;
  content: Buffer;
  /** Of the commit. */
  message?: string | undefined;
}

/**
 * Creates a page, and with the first one the repository of the wiki.
 * @throws ApiError 400 for a title that no page can have, or that a page has
 */
export async function createPage(services: Services, changing: Changing, page: NewPage): Promise<ReadPage> {
  const { content, format } = page;
  const { title, slug } = titled(page.title);
  const wiki = await openWiki(services, wikiRepositories, changing.place);
  const path = pathOf(slug, format);
  const version = await commit(services, { ...changing, wiki }, wiki.default_branch, async (before) => {
    if (before && (await pageAt(before, slug))) throw badRequest(duplicate);
    const message = page.message ?? messageFor(changing, 'created', title);
    return { message, actions: [{ action: 'create', file_path: path, content }] };
  });
  return written(services, version, path, content);
}

export const pageNoun = 'Wiki Page';

/** @throws ApiError 404 when there is no such page, 409 when its last commit is another than the caller knows */
async function pageToChange(version: Version | undefined, slug: string, last_commit_sha: string | undefined): Promise<Page> {
  const page = found(pageNoun, version && (await pageAt(version, slug)));
  if (last_commit_sha === undefined) return page;
  const last = await lastCommitOf(version!.repository, version!.commit_id, page.path);
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

/** Where a page is after a change, and the title that the change names. The title that is shown changes nothing. */
async function renamed(version: Version, page: Page, { title, format = page.format }: PageChanges) {
  const shown = shownTitle(await readAbout(version, page));
  const to = title === undefined || title.trim() === shown ? { title: shown, slug: page.slug } : retitled(page.slug, title);
  const path = to.slug === page.slug && format === page.format ? page.path : pathOf(to.slug, format);
  if (to.slug !== page.slug && (await pageAt(version, to.slug))) throw invalid({ title: ['already exists'] });
  return { title: to.title, path };
}

/**
 * Changes a page. Its file is renamed when its title or its format changes.
 * @throws ApiError 400 for a title that no page can have, or that another page has; 404 and 409 as `pageToChange`
 */
export async function changePage(services: Services, changing: Changing, slug: string, changes: PageChanges): Promise<ReadPage> {
  const { content, message, last_commit_sha } = changes;
  const wiki = found(pageNoun, await wikiOf(services.db, changing.place));
  let path = '';
  const version = await commit(services, { ...changing, wiki }, wiki.default_branch, async (before) => {
    const page = await pageToChange(before, slug, last_commit_sha);
    const after = await renamed(before!, page, changes);
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
  await commit(services, { ...changing, wiki }, wiki.default_branch, async (before) => {
    const page = await pageToChange(before, slug, last_commit_sha);
    const title = shownTitle(await readAbout(before!, page));
    return {
      message: message ?? messageFor(changing, 'deleted', title),
      actions: [{ action: 'delete', file_path: page.path }],
    };
  });
}

/**
 * Commits a file that pages can show or link to.
 * @param branch by default that of the pages
 * @returns where it is
 */
export async function attach(
  services: Services,
  changing: Changing,
  file: UploadedFile,
  branch?: string,
): Promise<{ file_name: string; file_path: string; branch: string }> {
  const content = await bytesOf(services, file);
  const file_name = storedName(file.name);
  const file_path = attachmentPath(randomBytes(16).toString('hex'), file_name);
  const wiki = await openWiki(services, wikiRepositories, changing.place);
  const target = branch ?? wiki.default_branch;
  const message = `Upload attachment ${file_name}`;
  await commit(services, { ...changing, wiki }, target, async () => ({
    message,
    actions: [{ action: 'create', file_path, content }],
  }));
  return { file_name, file_path, branch: target };
}
