/** Forks: projects that start as a copy of another one. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import {
  lesserVisibility,
  levels,
  mayDownloadCode,
  mayUse,
  type Project,
  type VisibilityName,
} from '../../../access/index.ts';
import { type Database, isForeignKeyViolation } from '../../../db/index.ts';
import {
  allRefs,
  copyRepository,
  deleteRepository,
  GitError,
  listBranches,
  type Repository,
  repositoryOf,
  resolveBranch,
  setHead,
} from '../../../git/index.ts';
import {
  ApiError,
  type Caller,
  conflict,
  found,
  Id,
  notFound,
  notModified,
  optional,
  type Services,
} from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { scanSoon } from '../../code/dependencies/index.ts';
import { shareObjects } from '../../code/lfs/index.ts';
import { protectDefaultBranch } from '../../code/protected_branches/index.ts';
import {
  beforeAll,
  closeForeign,
  maintainSoon,
  projectRepositories,
  readmePathOf,
  recordRefsIn,
} from '../../code/repository/index.ts';
import { allowedVisibility, restrictionReasons, settingsOf } from '../../instance/application_settings/index.ts';
import { createProject, forkVisibilityReasons, isThere, visibilityReasons } from './actions.ts';
import { namespaceFor } from './creation_actions.ts';
import type { MergeSettings } from './rules.ts';
import { mayCreateIn, namingProblems } from './rules.ts';

export interface ForkRequest {
  /** ID or full path; the caller's own namespace by default. */
  namespace: number | string | undefined;
  name?: string | undefined;
  path?: string | undefined;
  description?: string | null | undefined;
  visibility?: VisibilityName | undefined;
  /** Names of the branches to copy; if omitted or empty, the whole repository. */
  branches?: string[] | undefined;
  /** Merge settings. */
  settings?: MergeSettings;
}

const refused = (fields: Record<string, string[]>) => new ApiError(409, { message: fields });

/** Whether the caller may fork a project: they may download its code, and forking is enabled for them. */
const mayFork = (project: Project): boolean => mayDownloadCode(project) && mayUse(project, 'forking', levels.reporter);

/**
 * Creates a fork of a project. A job copies its repository.
 * @returns its ID
 * @throws ApiError 404 for a namespace or branch that does not exist or is not available to the caller, 409 for invalid or taken values
 */
export async function forkProject(
  services: Services,
  caller: Caller,
  source: Project,
  request: ForkRequest,
): Promise<number> {
  const { db } = services;
  if (!mayFork(source)) throw refused({ forked_from_project_id: ['is forbidden'] });
  const namespace = await namespaceFor(db, caller, request.namespace);
  if (!namespace || !mayCreateIn(caller, namespace)) throw notFound('Target Namespace');
  const branches = request.branches?.length ? request.branches : undefined;
  for (const branch of branches ?? [])
    if (!(await resolveBranch(repositoryOf(services, source), branch))) throw notFound('Source Branch');
  const { storage, description, repository_object_format } = await sourceToCopy(db, source.id);
  const columns = {
    description: request.description === undefined ? description : request.description,
    visibility: request.visibility ?? (await usualVisibility(db, caller, maximumVisible(source, namespace))),
  };
  const name = request.name || source.name;
  const path = request.path || source.path;
  const reasons = [
    ...(await restrictionReasons(db, caller, request.visibility)),
    ...visibilityReasons(columns.visibility, namespace),
    ...forkVisibilityReasons(columns.visibility, source.visibility),
  ];
  const problems = {
    ...namingProblems({ name, path, description: columns.description }),
    ...(reasons.length > 0 ? { visibility_level: reasons } : {}),
  };
  if (Object.keys(problems).length > 0) throw refused(problems);
  const fork = createProject(services, {
    name,
    path,
    namespace,
    creator_id: caller.id,
    default_branch: source.default_branch,
    object_format: repository_object_format as 'sha1' | 'sha256',
    // On the storage of its source, where a copy can share the files.
    storage,
    columns: { ...columns, ...request.settings, forked_from_id: source.id, import_status: 'scheduled' },
    also: (tx, id) => copyFork.enqueue(tx, { project_id: id, source_id: source.id, ...(branches ? { branches } : {}) }),
  });
  return fork.catch((error: unknown) => {
    if (isSourceGone(error)) throw notFound('Project');
    // For forks, taken names and paths are reported as conflicts.
    throw error instanceof ApiError && error.status === 400 ? new ApiError(409, error.body) : error;
  });
}

/** Whether a row could not be written because its source was just deleted. */
const isSourceGone = (error: unknown) => isForeignKeyViolation(error, 'projects_forked_from_id_fkey');

/**
 * The values that a fork takes over from its source.
 * @throws ApiError 409 while the source is still being copied itself: the fork would be incomplete
 */
async function sourceToCopy(db: Database, project_id: number) {
  const query = db
    .selectFrom('projects')
    .select(['storage', 'description', 'repository_object_format', 'import_status'])
    .where('id', '=', project_id);
  const source = found('Project', await query.executeTakeFirst());
  if (isUnderWay(source.import_status)) throw conflict('The project is still being copied from its own source.');
  return source;
}

const isUnderWay = (import_status: string) => import_status === 'scheduled' || import_status === 'started';

const maximumVisible = (source: Project, place: { kind: string; visibility: VisibilityName }): VisibilityName =>
  place.kind === 'user' ? source.visibility : lesserVisibility(source.visibility, place.visibility);

/** The highest visibility that the caller may choose for the fork. */
const usualVisibility = async (db: Database, caller: Caller, most: VisibilityName) =>
  caller.admin ? most : allowedVisibility(most, (await settingsOf(db)).restricted_visibility_levels);

/** Copies the repository of a fork. An interrupted run starts again and reuses what was copied. */
export const copyFork = job('copy_fork', {
  input: { project_id: Id, source_id: Id, branches: optional(Type.Array(Type.String())) },
  retries: 20,
  run: async ({ input, signal, log, ...services }) => {
    try {
      await copy(services, input, signal);
    } catch (error) {
      // A retry does not help against errors of git; other errors may be temporary.
      if (signal.aborted || !(error instanceof GitError)) throw error;
      log.error({ err: error }, 'failed to copy a fork');
      await services.db
        .updateTable('projects')
        .set({ import_status: 'failed', import_error: 'The repository could not be copied.' })
        .where('id', '=', input.project_id)
        .execute();
    }
  },
});

interface Copy {
  project_id: number;
  source_id: number;
  branches?: string[];
}

type CopyServices = Pick<Services, 'db' | 'storages'>;

async function copy(
  services: CopyServices,
  { project_id, source_id, branches }: Copy,
  signal: AbortSignal,
): Promise<void> {
  const { db } = services;
  const fork = await db
    .updateTable('projects')
    .set({ import_status: 'started' })
    .where('id', '=', project_id)
    .where('import_status', 'in', ['scheduled', 'started'])
    .returning(['id', 'storage', 'default_branch'])
    .executeTakeFirst();
  if (!fork) return;
  const repository = repositoryOf(services, fork);
  try {
    await fill(services, repository, { fork, source_id, branches, signal });
  } finally {
    // If the fork was deleted in the meantime, its folder was deleted too, and the copy has created it again.
    if (!(await isThere(db, project_id))) await deleteRepository(repository);
  }
}

interface Filling {
  fork: { id: number; default_branch: string };
  source_id: number;
  branches: string[] | undefined;
  signal: AbortSignal;
}

async function fill(
  services: CopyServices,
  repository: Repository,
  { fork, source_id, branches, signal }: Filling,
): Promise<void> {
  const { db } = services;
  const source = await db
    .selectFrom('projects')
    .select(['id', 'storage'])
    .where('id', '=', source_id)
    .executeTakeFirst();
  if (!source) throw new GitError('fetch', null, 'the source is gone');
  await copyRepository(repositoryOf(services, source), repository, { branches, signal });
  const copied = Array.from(await allRefs(repository), ([ref, id]) => ({ ref, new: id }));
  const names = (await listBranches(repository)).map(({ name }) => name);
  const default_branch = names.includes(fork.default_branch) ? fork.default_branch : (names[0] ?? fork.default_branch);
  await setHead(repository, default_branch);
  const readme_path = await readmePathOf(repository, default_branch);
  const project_id = fork.id;
  await db.transaction().execute(async (tx) => {
    const finished = await tx
      .updateTable('projects')
      .set({
        import_status: 'finished',
        import_error: null,
        empty_repo: names.length === 0,
        default_branch,
        readme_path,
        last_activity_at: sql`now()`,
      })
      .where('id', '=', project_id)
      .returning('id')
      .executeTakeFirst();
    if (!finished) return;
    if (names.length > 0) await protectDefaultBranch(tx, project_id);
    await recordRefsIn(tx, 'recorded_refs', project_id, { moved: copied, update_id: beforeAll });
    await shareObjects(tx, source_id, project_id);
    await maintainSoon(tx, projectRepositories, project_id, 0);
    await scanSoon(tx, project_id);
  });
}

/**
 * Creates a fork relationship; nothing is copied.
 * @param source undefined when it does not exist or is not visible to the caller
 * @throws ApiError 404 without a source, 401 when the caller may not fork it, 409 when the project is already a fork
 */
export async function relateFork(db: Database, project: Project, source: Project | undefined): Promise<void> {
  if (!source) throw notFound('Source Project');
  if (!mayFork(source)) throw new ApiError(401, { message: '401 Unauthorized - Target Namespace' });
  const related = await db
    .updateTable('projects')
    .set({ forked_from_id: source.id, updated_at: sql`now()` })
    .where('id', '=', project.id)
    .where('id', '<>', source.id)
    .where('forked_from_id', 'is', null)
    .returning('id')
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isSourceGone(error) ? notFound('Source Project') : error;
    });
  if (!related) throw conflict('Project already forked');
}

/**
 * Makes an imported project a fork of another imported one, without changing its times. A fork must not reveal anything
 * that its source hides.
 * @returns whether it is a fork now
 */
export async function leadFork(tx: Database, project_id: number, source_id: number): Promise<boolean> {
  const rows = await tx
    .selectFrom('projects')
    .select(['id', 'visibility'])
    .where('id', 'in', [project_id, source_id])
    .$castTo<{ id: number; visibility: VisibilityName }>()
    .execute();
  const [fork, source] = [project_id, source_id].map((id) => rows.find((row) => row.id === id));
  if (!fork || !source || fork === source || forkVisibilityReasons(fork.visibility, source.visibility).length > 0)
    return false;
  await tx.updateTable('projects').set({ forked_from_id: source_id }).where('id', '=', project_id).execute();
  return true;
}

/**
 * Deletes the fork relationship of a project. A job closes its merge requests with projects to which it is no longer
 * related.
 * @throws ApiError 304 when the project is not a fork
 */
export async function unrelateFork(tx: Database, caller: Caller, project_id: number): Promise<void> {
  const freed = await tx
    .updateTable('projects')
    .set({ forked_from_id: null, updated_at: sql`now()` })
    .where('id', '=', project_id)
    .where('forked_from_id', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (!freed) throw notModified();
  await closeForeign.enqueue(tx, { project_id, user_id: caller.id });
}
