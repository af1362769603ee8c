/**
 * Creates, changes and deletes snippets: a row and a repository, neither of which is ever visible without the other (docs/decisions/0039-snippets-are-rows-and-repositories.md).
 */
import { sql } from 'kysely';
import { lesserVisibility, type Project, type Snippet, type VisibilityName } from '../../../access/index.ts';
import { type Database, isForeignKeyViolation, stamped } from '../../../db/index.ts';
import { RefMoved, type Repository, repositoryOf, resolveBranch, updateRefs } from '../../../git/index.ts';
import {
  ApiError,
  badRequest,
  type Caller,
  type Conditions,
  deleteFound,
  notFound,
  type Services,
  sentenceOf,
  textOf,
  withReasons,
} from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import {
  allowedVisibility,
  defaultVisibility,
  type Settings,
  settingsOf,
  storageForNew,
} from '../../instance/application_settings/index.ts';
import { writeChanges } from '../repository/commits/actions.ts';
import { changesFor, type FileAction } from '../repository/commits/file_actions.ts';
import { inTurn } from '../repository/commits/turn_actions.ts';
import { moveRefs } from '../repository/moving/actions.ts';
import { maintainSoon } from '../repository/owners/jobs.ts';
import { removeUnusedRepository, storeRepository, useRepository } from '../repository/owners/unused_actions.ts';
import { maximumFiles, noFile, repositoryReasons, tooManyFiles } from './content_checks.ts';
import { placeOf, type SnippetChanges, snippetRepositories } from './kind.ts';
import { addedBytes, problemsOf } from './rules.ts';

type CommitAuthor = Pick<Caller, 'name' | 'commit_email'>;
type Author = CommitAuthor & Pick<Caller, 'id' | 'admin'>;

/**
 * A level above that of the project is accepted: only users who can read the project can read its snippets anyway.
 * @throws ApiError 403 for a level restricted by administrators
 */
function refuseVisibility(settings: Settings, { admin }: Author, visibility: VisibilityName): void {
  if (!admin && settings.restricted_visibility_levels.includes(visibility))
    throw new ApiError(403, { message: `Visibility level ${visibility} has been restricted by your administrator` });
}

/** The default visibility of a new snippet. */
function usualVisibility(settings: Settings, author: Author, project: Project | undefined): VisibilityName {
  if (project) return lesserVisibility(defaultVisibility(settings, 'snippet', author), project.visibility);
  return author.admin ? 'internal' : allowedVisibility('internal', settings.restricted_visibility_levels);
}

/** @throws ApiError 400 with all problems in a sentence */
function refuseProblems(problems: Record<string, string[]>): void {
  if (Object.keys(problems).length > 0) throw withReasons(badRequest(sentenceOf(problems)), problems);
}

/** Mentions the commit in the refusals of its files. */
async function committing<T>(verb: 'creating' | 'updating', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 400)
      throw badRequest(`Repository Error ${verb} the snippet - ${textOf(error)}`);
    throw error;
  }
}

/** @throws ApiError 400 for too many files, or none */
function refuseCount(paths: ReadonlySet<string>): void {
  if (paths.size > maximumFiles) throw badRequest(tooManyFiles);
  if (paths.size === 0) throw badRequest(noFile);
}

/** @throws ApiError 400 if the repository would be too large */
function refuseSize(size_bytes: number, limit_bytes: number): void {
  const [reason] = repositoryReasons(size_bytes, limit_bytes);
  if (reason !== undefined) throw badRequest(reason);
}

/** The paths after some valid actions. */
function pathsAfter(paths: readonly string[], actions: readonly FileAction[]): Set<string> {
  const after = new Set(paths);
  for (const action of actions) {
    if (action.action === 'delete') after.delete(action.file_path);
    else after.add(action.file_path);
    if (action.action === 'move') after.delete(action.previous_path);
  }
  return after;
}

/** In git's order, by bytes. */
const inOrder = (paths: ReadonlySet<string>): string[] =>
  [...paths].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

interface Writing {
  author: CommitAuthor;
  /** Null for the first commit. */
  parent: string | null;
  message: string;
  actions: readonly FileAction[];
}

/** Writes a commit without a branch that points to it. */
async function writeFiles(repository: Repository, { author, parent, message, actions }: Writing) {
  const person = { name: author.name, email: author.commit_email, date: new Date() };
  const changes = await changesFor(repository, parent, actions);
  return writeChanges(repository, {
    parent,
    message,
    changes,
    author: person,
    committer: person,
    object_format: 'sha1',
  });
}

export interface NewSnippet {
  title: string;
  description?: string | null | undefined;
  /** Defaults to the level in the settings. */
  visibility?: VisibilityName | undefined;
  actions: readonly FileAction[];
}

export interface Origin {
  author: Author;
  /** Undefined for a personal snippet. */
  project: Project | undefined;
  sent_from: Conditions['sent_from'];
}

/** A repository with the files of a snippet, in the form of columns of its row. */
export interface StoredFiles {
  id: number;
  storage: string;
  branch: string;
  commit_id: string;
  paths: string[];
  size_bytes: number;
}

/**
 * Creates the repository of a new snippet, recorded as unused until `useRepository`.
 * @throws ApiError 400 for invalid files
 */
export async function storeFiles(
  services: Pick<Services, 'db' | 'storages'>,
  author: CommitAuthor,
  actions: readonly FileAction[],
): Promise<StoredFiles> {
  const settings = await settingsOf(services.db);
  const branch = settings.default_branch_name || 'main';
  const size_bytes = addedBytes(actions);
  const paths = pathsAfter([], actions);
  const storage = await storageForNew(services);
  const { id, filled: commit_id } = await committing('creating', async () => {
    refuseCount(paths);
    refuseSize(size_bytes, settings.snippet_size_limit);
    const place = { kind: snippetRepositories, storage, default_branch: branch };
    return storeRepository(services, place, async (repository) => {
      const { id } = await writeFiles(repository, { author, parent: null, message: 'Initial commit', actions });
      await updateRefs(repository, [{ ref: `refs/heads/${branch}`, old: null, new: id }]);
      return id;
    });
  });
  return { id, storage, branch, commit_id, paths: inOrder(paths), size_bytes };
}

/**
 * Creates a snippet. Its repository comes first, and is recorded as unused until the transaction that adds the row: after a crash or a refusal, everything left is deleted.
 * @returns its ID
 * @throws ApiError 400 for invalid values and files, 403 for a visibility that is not allowed
 */
export async function createSnippet(
  services: Services,
  { author, project, sent_from }: Origin,
  snippet: NewSnippet,
): Promise<number> {
  const { db } = services;
  const { actions, ...values } = snippet;
  const settings = await settingsOf(db);
  refuseProblems(problemsOf(snippet, actions, settings.snippet_size_limit));
  if (snippet.visibility) refuseVisibility(settings, author, snippet.visibility);
  const visibility = snippet.visibility ?? usualVisibility(settings, author, project);
  const { id: snippet_id, ...stored } = await storeFiles(services, author, actions);
  try {
    await db.transaction().execute(async (tx) => {
      await useRepository(tx, snippetRepositories, snippet_id);
      const owner = project ? { project_id: project.id } : { user_id: author.id };
      const row = {
        ...owner,
        ...stored,
        ...values,
        visibility,
        author_id: author.id,
      };
      await insertSnippet(tx, snippet_id, row);
      await keepOrigin(tx, snippet_id, sent_from);
      if (project)
        await recordEvent(tx, {
          project_id: project.id,
          author_id: author.id,
          action: 'created',
          target_type: 'Snippet',
          target_id: snippet_id,
        });
      await maintainSoon(tx, snippetRepositories, snippet_id, 0);
    });
  } catch (error) {
    // If the row exists after all, the repository is no longer recorded as unused, and stays.
    await removeUnusedRepository(services, snippetRepositories, snippet_id).catch(() => {});
    throw isForeignKeyViolation(error) ? notFound('Project') : error;
  }
  return snippet_id;
}

/** Inserts the row with the id that was allocated for the repository. */
async function insertSnippet(tx: Database, id: number, row: Record<string, unknown>): Promise<void> {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined);
  await sql`
    insert into snippets (id, ${sql.join(columns.map(([name]) => sql.ref(name)))}) overriding system value
    values (${id}, ${sql.join(columns.map(([, value]) => value))})`.execute(tx);
}

/** Stores the address that a snippet was written from, for spam reports. */
async function keepOrigin(
  tx: Database,
  snippet_id: number,
  { address, user_agent }: Origin['sent_from'],
): Promise<void> {
  if (address === undefined || user_agent === undefined) return;
  await sql`insert into snippet_user_agents (snippet_id, user_agent, ip_address) values (${snippet_id}, ${user_agent}, ${address}::inet)`.execute(
    tx,
  );
}

/**
 * Changes the columns of a snippet, and its files in one commit; all or nothing.
 * @throws ApiError 400 for invalid values and files, 403 for a forbidden visibility, 404 if it is gone
 */
export async function changeSnippet(
  services: Services,
  { snippet, author }: { snippet: Snippet; author: Author },
  changes: SnippetChanges,
  actions: readonly FileAction[],
): Promise<void> {
  const settings = await settingsOf(services.db);
  refuseProblems(problemsOf(changes, actions, settings.snippet_size_limit));
  const { visibility } = changes;
  if (visibility !== undefined && visibility !== snippet.visibility) refuseVisibility(settings, author, visibility);
  const hasMoved =
    actions.length > 0 &&
    (await commitFiles(services, { snippet, author, limit_bytes: settings.snippet_size_limit }, changes, actions));
  if (!hasMoved) await services.db.updateTable('snippets').set(stamped(changes)).where('id', '=', snippet.id).execute();
}

/** @returns false if the files do not change */
function commitFiles(
  services: Services,
  { snippet, author, limit_bytes }: { snippet: Snippet; author: Author; limit_bytes: number },
  changes: SnippetChanges,
  actions: readonly FileAction[],
): Promise<boolean> {
  const { id, branch } = snippet;
  const repository = repositoryOf(services, placeOf(snippet));
  return committing('updating', () =>
    inTurn(repository, branch, async () => {
      const [row, head] = await Promise.all([
        services.db
          .selectFrom('snippets')
          .select(['paths', 'size_bytes', 'commit_id'])
          .where('id', '=', id)
          .executeTakeFirst(),
        resolveBranch(repository, branch),
      ]);
      if (!row || head === undefined) throw notFound('Snippet');
      const ref = `refs/heads/${branch}`;
      // A push has moved the branch, and its row will be updated shortly.
      if (row.commit_id !== head) throw new RefMoved([ref]);
      refuseSize(row.size_bytes + addedBytes(actions), limit_bytes);
      const written = await writeFiles(repository, { author, parent: head, message: 'Update snippet', actions });
      refuseCount(pathsAfter(row.paths, actions));
      if (!written.is_changed) return false;
      const update = { ref, old: head, new: written.id };
      await moveRefs(services, { kind: snippetRepositories, owner: snippet, user_id: author.id, changes }, [
        update,
      ]).catch((error: unknown) => {
        throw isForeignKeyViolation(error) ? notFound('Snippet') : error;
      });
      return true;
    }),
  );
}

/**
 * Deletes a snippet with its repository. If the server stops in between, a job deletes the repository.
 * @throws ApiError 404 if it is gone
 */
export async function removeSnippet(services: Services, { id }: Pick<Snippet, 'id'>): Promise<void> {
  await deleteFound(services.db, 'snippets', id, 'Snippet');
  await removeUnusedRepository(services, snippetRepositories, id);
}
