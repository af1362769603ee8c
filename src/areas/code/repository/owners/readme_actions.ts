/** The READMEs of default branches, detected after changes, so that lists of projects start no git process per project (docs/reference/projects.md#fields). */
import { sql } from 'kysely';
import { type Repository, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { PushFollower } from '../../../../services/index.ts';
import { movedBranches } from '../rules.ts';
import { readmeOf } from '../trees/readme_git.ts';
import { forEachProject, type ProjectPlace } from './each_project_actions.ts';

/**
 * The README in the root folder of a branch, in the format of `projects.readme_path`.
 * @returns an empty text if there is none, null if the branch does not exist
 */
export async function readmePathOf(repository: Repository, branch: string): Promise<string | null> {
  const commit_id = await resolveBranch(repository, branch);
  return commit_id === undefined ? null : ((await readmeOf(repository, commit_id)) ?? '');
}

/** If git cannot read the branch, the README stays to be detected; the job that does so reports why it cannot. */
const readmePathOrUnknown = (repository: Repository, branch: string): Promise<string | null> =>
  readmePathOf(repository, branch).catch(() => null);

/** Detects the README when the default branch has moved or was replaced. */
export const readmeFollower: PushFollower = {
  async follow(services, { owner, moved }) {
    // This caches the commit and tree, so that git has nothing to do while the transaction holds its locks.
    await readmePathOrUnknown(repositoryOf(services, owner), owner.default_branch);
    return async (tx) => {
      // Locked, so that of two moves the one whose effects are written last reads the state after both.
      const project = await tx
        .selectFrom('projects')
        .select(['id', 'storage', 'default_branch', 'readme_path'])
        .where('id', '=', owner.id)
        .forNoKeyUpdate()
        .executeTakeFirstOrThrow();
      if (moved.length > 0 && !movedBranches(moved).includes(project.default_branch)) return;
      const readme_path = await readmePathOrUnknown(repositoryOf(services, project), project.default_branch);
      if (readme_path === project.readme_path) return;
      await tx.updateTable('projects').set({ readme_path }).where('id', '=', owner.id).execute();
    };
  },
};

async function findReadme(services: Pick<Services, 'db' | 'storages'>, project: ProjectPlace): Promise<void> {
  const { id, default_branch } = project;
  const readme_path = await readmePathOf(repositoryOf(services, project), default_branch);
  // A push has detected it meanwhile.
  await services.db
    .updateTable('projects')
    .set({ readme_path })
    .where('id', '=', id)
    .where('default_branch', '=', default_branch)
    .where('readme_path', 'is', null)
    .execute();
}

/**
 * Detects READMEs that were never detected, for example of projects older than this feature, and of restored repositories.
 * @param signal stops it between two repositories
 * @throws AggregateError with the failures of single repositories, after all others were processed
 */
export const findUnknownReadmes = (services: Pick<Services, 'db' | 'storages'>, signal: AbortSignal): Promise<void> =>
  forEachProject(services.db, sql<boolean>`readme_path is null and not empty_repo`, {
    run: (project) => findReadme(services, project),
    failed: (count) => `The READMEs of ${count} repositories could not be looked for`,
    signal,
  });
