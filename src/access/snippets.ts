/** Access rules that grant a snippet of the project in `:id`, or a snippet by its own ID. */

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import { pagePath } from '../foundation/addresses.ts';
import { type Access, type AccessCall, type Caller, isReading } from '../http/endpoint.ts';
import { badParams, forbidden, notFound, unauthorized } from '../http/errors.ts';
import { admin, type MaybeCaller } from './instance.ts';
import { levels } from './levels.ts';
import type { NoteableAddress, OnNoteable, Stored, StoredKind } from './noteables.ts';
import { callerAsReader, readRule, usesFeature } from './project_readers.ts';
import { mayRead, mayUse, type Project, projectFor, projectRole, projectVisible, refuseReadOnly } from './projects.ts';
import { isUserOfProject } from './readers.ts';
import type { VisibilityName } from './visibility.ts';

/** The columns of a snippet that access rules and changes of its repository need. */
export interface Snippet {
  id: number;
  /** Null for a personal snippet. */
  project_id: number | null;
  author_id: number;
  visibility: VisibilityName;
  storage: string;
  branch: string;
  commit_id: string;
  /** Its files, in git's order. */
  paths: string[];
  updated_at: string;
}

/** A snippet that an access rule has granted, with its project if it has one. */
export interface GrantedSnippet<C> {
  caller: C;
  snippet: Snippet;
  project: Project | undefined;
}

/** The snippet with an ID, whether the caller may read it or not. */
export async function snippetFor(db: Kysely<DB>, id: number): Promise<Snippet | undefined> {
  if (!Number.isSafeInteger(id)) return undefined;
  return db
    .selectFrom('snippets')
    .select(['id', 'project_id', 'author_id', 'visibility', 'storage', 'branch', 'commit_id', 'paths', 'updated_at'])
    .where('id', '=', id)
    .$castTo<Snippet>()
    .executeTakeFirst();
}

/**
 * Whether the caller may read a snippet (docs/reference/snippets.md#visibility).
 * @param project that of the snippet, which is visible to the caller and whose snippets they may use
 */
export function mayReadSnippet(
  caller: MaybeCaller,
  { visibility, author_id }: Pick<Snippet, 'visibility' | 'author_id'>,
  project: Pick<Project, 'access_level'> | undefined,
): boolean {
  if (visibility === 'public' || (visibility === 'internal' && caller && !caller.external)) return true;
  if (project) return project.access_level >= levels.guest;
  return caller !== undefined && (caller.admin || caller.id === author_id);
}

/** Whether a caller who may read a snippet may also change it: its author, and from Maintainer on the members of its project. */
export const mayChangeSnippet = (
  caller: Pick<Caller, 'id' | 'admin'>,
  { author_id }: Pick<Snippet, 'author_id'>,
  project: Pick<Project, 'access_level'> | undefined,
): boolean =>
  caller.admin || caller.id === author_id || (project !== undefined && project.access_level >= levels.maintainer);

/** A predicate on rows of `snippets` of a visible project whose snippets the caller may use: the caller may read the snippet, as `mayReadSnippet` decides for one. */
export const isReadableInProject = (
  caller: MaybeCaller,
  { access_level }: Pick<Project, 'access_level'>,
): RawBuilder<SqlBool> => (access_level >= levels.guest ? sql`true` : callerAsReader(caller).isShown('snippets'));

/** Who may read a snippet of a project. */
const snippetRule = readRule(
  sql`projects.snippets_access_level <> 'disabled'`,
  (reader) => sql`
    (${reader.knowsProject} and ${usesFeature(reader, 'snippets')} and (${reader.isShown('snippets')} or ${reader.isMember(levels.guest)}))`,
);

/** A predicate on rows of `snippets` left joined with `projects`: the caller may read the snippet. */
export const isVisibleSnippet = (caller: Caller): RawBuilder<SqlBool> => sql`
  case when snippets.project_id is not null then ${snippetRule.isVisible(caller)}
       else ${caller.admin ? sql`true` : sql`(${callerAsReader(caller).isShown('snippets')} or snippets.author_id = ${caller.id})`} end`;

/** The ID in a path. It is checked after the project, and before the input, which is read after access is granted. */
function idInPath(name: 'id' | 'snippet_id', params: AccessCall['params']): number {
  const text = params[name]!;
  if (!/^-?\d+$/.test(text)) throw badParams(`${name} is invalid`);
  return Number(text);
}

/**
 * The snippet in a path, if the caller may read it.
 * @param missing how the 404 names it
 */
async function readableIn(call: AccessCall, project: Project, missing?: string): Promise<Snippet> {
  if (!mayUse(project, 'snippets')) throw forbidden();
  const snippet = await snippetFor(call.db, idInPath('snippet_id', call.params));
  if (snippet?.project_id !== project.id || !mayReadSnippet(call.caller, snippet, project)) throw notFound(missing);
  return snippet;
}

/** Which callers a rule admits, of the callers who may read the snippet. */
function refuseChange({ method }: AccessCall, { caller, snippet, project }: GrantedSnippet<Caller>): void {
  if (isReading(method)) return;
  if (!mayChangeSnippet(caller, snippet, project)) throw forbidden();
  if (project) refuseReadOnly(project);
}

/**
 * Grants the snippet in `:snippet_id` to everyone who may read it, signed in or not.
 * @param missing how the 404 names it
 */
export const projectSnippetVisible = (missing?: string): Access<GrantedSnippet<MaybeCaller>> => ({
  rule: 'snippet:visible',
  anonymous: true,
  async check(call) {
    const { caller, project } = await projectVisible.check(call);
    return { caller, project, snippet: await readableIn(call, project, missing) };
  },
});

/** Grants the snippet in `:snippet_id` to its author and to Maintainers. Others who may read it get 403. */
export const projectSnippetEditor: Access<GrantedSnippet<Caller>> = {
  rule: 'snippet:editor',
  async check(call) {
    const { caller, project } = await projectRole('guest', { archived: true }).check(call);
    const granted = { caller, project, snippet: await readableIn(call, project, 'Snippet') };
    refuseChange(call, granted);
    return granted;
  },
};

/** Grants administrators the snippet in `:snippet_id`. Others do not learn whether it exists. */
export const projectSnippetForAdmin: Access<GrantedSnippet<Caller>> = {
  rule: 'snippet:admin',
  async check(call) {
    await admin.check(call);
    const { caller, project } = await projectRole('guest').check(call);
    return { caller, project, snippet: await readableIn(call, project, 'Snippet') };
  },
};

/** The snippet in `:id` with its project, if the caller may read it. */
async function readableByItself(call: AccessCall, missing?: string): Promise<Omit<GrantedSnippet<never>, 'caller'>> {
  const { db, caller } = call;
  const snippet = await snippetFor(db, idInPath('id', call.params));
  if (!snippet) throw notFound(missing);
  const project = snippet.project_id === null ? undefined : await projectFor(db, caller, String(snippet.project_id));
  const isOpen = snippet.project_id === null || (project && mayRead(caller, project) && mayUse(project, 'snippets'));
  if (!isOpen || !mayReadSnippet(caller, snippet, project)) throw notFound(missing);
  return { snippet, project };
}

/**
 * Grants the snippet in `:id`, personal or of a project, to everyone who may read it, signed in or not.
 * @param missing how the 404 names it
 */
export const snippetVisible = (missing?: string): Access<GrantedSnippet<MaybeCaller>> => ({
  rule: 'snippet:visible',
  anonymous: true,
  async check(call) {
    return { caller: call.caller, ...(await readableByItself(call, missing)) };
  },
});

/** Grants the snippet in `:id` to its author and to administrators, and one of a project to Maintainers. Others get 404. */
export const snippetEditor: Access<GrantedSnippet<Caller>> = {
  rule: 'snippet:editor',
  async check(call) {
    if (!call.caller) throw unauthorized();
    const granted = { caller: call.caller, ...(await readableByItself(call, 'Snippet')) };
    if (!mayChangeSnippet(call.caller, granted.snippet, granted.project)) throw notFound('Snippet');
    refuseChange(call, granted);
    return granted;
  },
};

/** Grants administrators the snippet in `:id`. Others do not learn whether it exists. */
export const snippetForAdmin: Access<GrantedSnippet<Caller>> = {
  rule: 'snippet:admin',
  async check(call) {
    const { caller } = await admin.check(call);
    return { caller, ...(await readableByItself(call, 'Snippet')) };
  },
};

/** Admits signed-in callers who are not external. */
export const internalUser: Access<{ caller: Caller }> = {
  rule: 'signed in, not external',
  async check({ caller }) {
    if (!caller) throw unauthorized();
    if (caller.external) throw forbidden();
    return { caller };
  },
};

/** Refuses changes of the notes on a snippet of a read-only project. */
const granting = <C>(access: Access<GrantedSnippet<C>>): Access<OnNoteable<C, Stored>> => ({
  ...access,
  async check(call) {
    const { caller, project, snippet } = await access.check(call);
    if (!project) throw notFound('Snippet');
    if (!isReading(call.method)) refuseReadOnly(project);
    return {
      caller,
      on: { kind: snippetKind, id: snippet.id, in: { project }, access_level: project.access_level, locked: false },
    };
  },
});

const readerAs = (missing?: string): Access<GrantedSnippet<Caller>> => ({
  rule: 'snippet:reader',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await projectSnippetVisible(missing).check(call)), caller: call.caller };
  },
});

const at: NoteableAddress<Stored> = {
  path: '/projects/:id/snippets/:snippet_id',
  visible: (missing) => granting(projectSnippetVisible(missing)),
  reader: (missing) => granting(readerAs(missing)),
};

/** Snippets of projects as noteables. */
export const snippetKind: StoredKind = {
  name: 'snippet',
  type: 'Snippet',
  table: 'snippets',
  column: 'snippet_id',
  place_column: 'project_id',
  places: 'projects',
  page: pagePath('/:project/-/snippets/:snippet_id'),
  at,
  threads_comments: false,
  discussed_at: at,
  endpoints: (all) => [...all],
  ...snippetRule,
  isReadInside: sql`(users.admin or ${isUserOfProject(levels.planner)})`,
};
