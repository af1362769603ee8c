/** The sizes of repositories, measured after changes, so that lists start no git process per project (docs/reference/projects.md). */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../../db/index.ts';
import { countCommits, countObjects, GitError, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { PushFollower } from '../../../../services/index.ts';
import { forEachProject, type ProjectPlace } from './each_project_actions.ts';

export interface RepositorySize {
  /** Of the default branch. */
  commit_count: number;
  /** The size of its objects on disk. */
  size_bytes: number;
}

/**
 * Measures a repository and stores the result. If references move meanwhile, the result is stored as stale.
 * @param project must exist in the storage; if its row was deleted meanwhile, nothing is stored
 */
export async function measureRepository(
  services: Pick<Services, 'db' | 'storages'>,
  project: ProjectPlace,
): Promise<RepositorySize> {
  const before = await services.db
    .selectFrom('repository_sizes')
    .select('changes')
    .where('project_id', '=', project.id)
    .executeTakeFirst();
  const repository = repositoryOf(services, project);
  const head = await resolveBranch(repository, project.default_branch);
  const [commit_count, { size_bytes }] = await Promise.all([
    head === undefined ? 0 : countCommits(repository, { from: [head] }),
    countObjects(repository),
  ]);
  await sql`
    insert into repository_sizes (project_id, commit_count, size_bytes)
    select id, ${commit_count}, ${size_bytes} from projects where id = ${project.id} for key share
        on conflict (project_id) do update set commit_count = excluded.commit_count, size_bytes = excluded.size_bytes,
           is_stale = repository_sizes.changes <> ${before?.changes ?? 0}`.execute(services.db);
  return { commit_count, size_bytes };
}

/** Marks the sizes of repositories as stale after pushes. */
export const sizeFollower: PushFollower = {
  follow:
    async (_services, { owner }) =>
    (tx) =>
      forgetSize(tx, owner.id),
};

/** Records that a repository has changed since it was measured. */
export async function forgetSize(tx: Database, project_id: number): Promise<void> {
  await sql`
    insert into repository_sizes (project_id, commit_count, size_bytes, is_stale, changes) values (${project_id}, 0, 0, true, 1)
        on conflict (project_id) do update set is_stale = true, changes = repository_sizes.changes + 1`.execute(tx);
}

/**
 * Measures repositories that were never measured, for example those older than this feature.
 * @param signal stops it between two repositories
 * @throws AggregateError with the failures of single repositories, after all others were measured
 */
export const measureUnmeasured = (services: Pick<Services, 'db' | 'storages'>, signal: AbortSignal): Promise<void> =>
  forEachProject(services.db, sql<boolean>`not exists (select from repository_sizes where project_id = projects.id)`, {
    run: (project) => measureRepository(services, project),
    failed: (count) => `${count} repositories could not be measured`,
    signal,
  });

/** A repository that git cannot read keeps its previous size: `coppice check` reports the fault. */
const unlessBroken = (before: RepositorySize) => (error: unknown) => {
  if (error instanceof GitError) return before;
  throw error;
};

/** The current sizes of repositories by project: as stored, or measured if stale. */
export async function repositorySizes(
  services: Pick<Services, 'db' | 'storages'>,
  projects: readonly ProjectPlace[],
): Promise<ReadonlyMap<number, RepositorySize>> {
  const ids = projects.map(({ id }) => id);
  const stored = await services.db
    .selectFrom('repository_sizes')
    .select(['project_id', 'commit_count', 'size_bytes', 'is_stale'])
    .where(isAmong('project_id', ids, 'bigint[]'))
    .execute();
  const known = new Map(stored.map(({ project_id, ...size }) => [project_id, size]));
  // The git module limits the number of concurrent processes.
  const sizes = projects.map(async (project): Promise<[number, RepositorySize]> => {
    const { is_stale, ...size } = known.get(project.id) ?? { is_stale: true, commit_count: 0, size_bytes: 0 };
    return [project.id, is_stale ? await measureRepository(services, project).catch(unlessBroken(size)) : size];
  });
  return new Map(await Promise.all(sizes));
}
