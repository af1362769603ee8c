/** Snippets as owners of repositories: `<project path>/snippets/<id>.git`, and `snippets/<id>.git` for a personal one (docs/reference/snippets.md). */
import {
  basicRefused,
  type MaybeCaller,
  mayChangeSnippet,
  mayRead,
  mayReadSnippet,
  mayUse,
  movedProject,
  type Project,
  projectFor,
  type Snippet,
  snippetFor,
  type VisibilityName,
} from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import {
  countObjects,
  fileSizes,
  type Push,
  type Repository,
  type RepositoryPlace,
  repositoryOf,
  resolveBranch,
} from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import type { Owner, RepositoryServices } from '../../../services/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { GitAccess, GitKind } from '../repository/definition.ts';
import { isPush, MovedGit } from '../repository/owners/git_access.ts';
import { maintainSoon } from '../repository/owners/jobs.ts';
import { oddTreeRefusals } from '../repository/push_checks/checks.ts';
import { readOnlyRefusal, refusal } from '../repository/rules.ts';
import { snippetRefusals } from './content_checks.ts';

const folder = '@snippets';

/** The location of a snippet's repository. */
export const placeOf = ({ id, storage }: Owner): RepositoryPlace => ({ id, storage, folder });

/** Columns of a snippet that change together with its files. */
export interface SnippetChanges {
  title?: string | undefined;
  description?: string | null | undefined;
  visibility?: VisibilityName | undefined;
  /** Defaults to now. */
  updated_at?: string | undefined;
}

/** The path of a snippet in its project, or of a personal snippet. */
const address = /^(?:(?<project>.+)\/)?snippets\/(?<id>\d+)$/;

/** The project in the path of a snippet, under its present or a former path; none for a personal snippet. Undefined if the project does not exist. */
async function projectAt(
  { db }: Services,
  caller: MaybeCaller,
  path: string | undefined,
): Promise<{ project: Project | undefined; has_moved: boolean } | undefined> {
  if (path === undefined) return { project: undefined, has_moved: false };
  const here = await projectFor(db, caller, path);
  const project = here ?? (await movedProject(db, caller, path));
  return project && { project, has_moved: !here };
}

/** @throws ApiError 401 or 404 if the caller may not fetch the snippet, 403 for a token of a project */
async function grantSnippet(
  services: Services,
  caller: MaybeCaller,
  id: number,
  project: Project | undefined,
): Promise<Snippet> {
  const snippet = await snippetFor(services.db, id);
  const isThere = snippet !== undefined && snippet.project_id === (project?.id ?? null);
  const isOpen = !project || (mayRead(caller, project) && mayUse(project, 'snippets'));
  if (!isThere || !isOpen || !mayReadSnippet(caller, snippet, project))
    throw caller ? refusal(404, 'The snippet you were looking for could not be found.') : basicRefused(services.url);
  // Deploy credentials and job tokens grant the code of a project only.
  if (caller?.deploys || caller?.job) throw refusal(403, 'The authentication mechanism is not supported.');
  return snippet;
}

const mayNotUpdate = 'You are not allowed to update this snippet.';

/** @throws ApiError 401 or 403 if a caller who may fetch a snippet may not push to it */
function refusePush({ url }: Services, caller: MaybeCaller, snippet: Snippet, project: Project | undefined): void {
  if (!caller) throw basicRefused(url);
  if (!mayChangeSnippet(caller, snippet, project)) throw refusal(403, mayNotUpdate);
  if (project?.read_only) throw refusal(403, readOnlyRefusal(project));
}

interface Pushed {
  snippet: Snippet;
  project: Project | undefined;
}

/** The reasons for refusing a push, by the current state of the snippet and its project. */
async function refusalsOf(
  services: Services,
  caller: Caller,
  { snippet, project }: Pushed,
  push: Push,
): Promise<string[]> {
  const [now, snippetNow] = await Promise.all([
    project && projectFor(services.db, caller, String(project.id)),
    snippetFor(services.db, snippet.id),
  ]);
  if (!snippetNow || (project && !now)) return ['The snippet is gone.'];
  if (now?.read_only) return [readOnlyRefusal(now)];
  if (!mayChangeSnippet(caller, snippetNow, now)) return [mayNotUpdate];
  const { snippet_size_limit: limit_bytes } = await settingsOf(services.db);
  const repository = repositoryOf(services, placeOf(snippet));
  const refusals = await snippetRefusals(repository, push, { branch: snippet.branch, limit_bytes });
  return refusals.length > 0 ? refusals : oddTreeRefusals(repository, push.quarantine);
}

export const snippetRepositories: GitKind = {
  name: 'snippet',
  table: 'snippets',
  column: 'snippet_id',
  folder,
  needs_branch: true,
  rows: `select snippets.id, concat_ws('/', projects.full_path::text, 'snippets', snippets.id) as full_path, snippets.storage, branch as default_branch, false as empty_repo
           from snippets left join projects on projects.id = snippets.project_id`,
  async grant(services, { caller, path, service }): Promise<GitAccess | undefined> {
    const named = address.exec(path)?.groups;
    const at = named && (await projectAt(services, caller, named.project));
    if (!named || !at) return undefined;
    const { project, has_moved } = at;
    const snippet = await grantSnippet(services, caller, Number(named.id), project);
    if (isPush(service)) refusePush(services, caller, snippet, project);
    if (has_moved && project) throw new MovedGit(`${project.full_path}/snippets/${snippet.id}`);
    const refusals = (push: Push) => refusalsOf(services, caller!, { snippet, project }, push);
    return { kind: snippetRepositories, owner: snippet, caller, refusals };
  },
  find: (db, id) => db.selectFrom('snippets').select(['id', 'storage']).where('id', '=', id).executeTakeFirst(),
  objectFormat: async () => 'sha1',
  async recordedRefs(db, id) {
    const row = await db.selectFrom('snippets').select(['branch', 'commit_id']).where('id', '=', id).executeTakeFirst();
    return { refs: new Map(row ? [[`refs/heads/${row.branch}`, row.commit_id]] : []), isComplete: true };
  },
  follow:
    async (services, { owner, changes }) =>
    (tx) =>
      followBranch(tx, services, owner.id, changes as SnippetChanges | null),
  async measure(services, snippet) {
    const { size_bytes } = await countObjects(repositoryOf(services, placeOf(snippet)));
    await services.db.updateTable('snippets').set({ size_bytes }).where('id', '=', snippet.id).execute();
  },
  async problems(db, { id }, repository) {
    const row = await db
      .selectFrom('snippets')
      .select(['branch', 'commit_id', 'paths'])
      .where('id', '=', id)
      .executeTakeFirst();
    const isWhereRecorded = row && (await resolveBranch(repository, row.branch)) === row.commit_id;
    const hasOtherFiles =
      isWhereRecorded && (await pathsAt(repository, row.commit_id)).join('\0') !== row.paths.join('\0');
    return hasOtherFiles ? ['the database lists other files than the repository has'] : [];
  },
};

const pathsAt = async (repository: Repository, commit_id: string): Promise<string[]> =>
  (await Array.fromAsync(fileSizes(repository, commit_id))).map(({ path }) => path);

/**
 * Stores the head of a snippet's branch after a move. The branch is read under the row lock, so that of several moves the one written last stores the result of all.
 * @param tx the transaction that settles the move
 * @param changes further changes of the row
 */
async function followBranch(
  tx: Database,
  services: RepositoryServices,
  id: number,
  changes: SnippetChanges | null,
): Promise<void> {
  const { branch, ...owner } = await tx
    .selectFrom('snippets')
    .select(['id', 'storage', 'branch'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const repository = repositoryOf(services, placeOf(owner));
  const commit_id = await resolveBranch(repository, branch);
  if (commit_id === undefined) throw new Error(`The branch ${branch} of the snippet ${id} is missing.`);
  const { updated_at, ...columns } = changes ?? {};
  const changed = stamped({ ...columns, commit_id, paths: await pathsAt(repository, commit_id) });
  await tx
    .updateTable('snippets')
    .set(updated_at === undefined ? changed : { ...changed, updated_at })
    .where('id', '=', id)
    .execute();
  await maintainSoon(tx, snippetRepositories, id);
}
