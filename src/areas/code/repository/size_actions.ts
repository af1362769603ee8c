/** The sizes of repositories, measured after changes, so that lists start no git process per project (docs/reference/projects.md). */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import { countCommits, countObjects, repositoryOf, resolveBranch } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';

export interface RepositorySize {
  /** Of the default branch. */
  commit_count: number;
  /** Of its objects on the disk. */
  size_bytes: number;
}

interface MeasuredProject {
  id: number;
  storage: string;
  default_branch: string;
}

/**
 * Measures a repository and stores the result. A move of references meanwhile is not in it, but brings a maintenance run that measures again.
 * @param project must exist in the storage; if its row is gone meanwhile, nothing is stored
 */
export async function measureRepository(
  services: Pick<Services, 'db' | 'storages'>,
  project: MeasuredProject,
): Promise<RepositorySize> {
  const repository = repositoryOf(services, project);
  const head = await resolveBranch(repository, project.default_branch);
  const [commit_count, { size_bytes }] = await Promise.all([
    head === undefined ? 0 : countCommits(repository, { from: [head] }),
    countObjects(repository),
  ]);
  await sql`
    insert into repository_sizes (project_id, commit_count, size_bytes)
    select id, ${commit_count}, ${size_bytes} from projects where id = ${project.id} for key share
        on conflict (project_id) do update set commit_count = excluded.commit_count, size_bytes = excluded.size_bytes, is_stale = false`.execute(
    services.db,
  );
  return { commit_count, size_bytes };
}

/** Records that a repository has changed since it was measured. */
export async function forgetSize(tx: Database, project_id: number): Promise<void> {
  await tx.updateTable('repository_sizes').set({ is_stale: true }).where('project_id', '=', project_id).execute();
}

/** The current sizes of repositories by project: as stored, and measured where they have changed since. */
export async function repositorySizes(
  services: Pick<Services, 'db' | 'storages'>,
  projects: readonly MeasuredProject[],
): Promise<ReadonlyMap<number, RepositorySize>> {
  const ids = projects.map(({ id }) => id);
  const stored = await services.db
    .selectFrom('repository_sizes')
    .select(['project_id', 'commit_count', 'size_bytes'])
    .where(isAmong('project_id', ids, 'bigint[]'))
    .where('is_stale', '=', false)
    .execute();
  const sizes = new Map(stored.map(({ project_id, ...size }) => [project_id, size]));
  const missing = projects.filter(({ id }) => !sizes.has(id));
  // The git module limits the number of concurrent processes.
  await Promise.all(missing.map(async (project) => sizes.set(project.id, await measureRepository(services, project))));
  return sizes;
}
