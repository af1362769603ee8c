/** The READMEs of default branches, looked for after changes, so that lists of projects start no git for each (docs/reference/projects.md#fields). */
import { sql } from 'kysely';
import { type Repository, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { PushFollower } from '../../../../services/index.ts';
import { movedBranches } from '../rules.ts';
import { readmeOf } from '../trees/readme_git.ts';
import { forEachProject, type ProjectPlace } from './each_project_actions.ts';

/**
 * The README in the top folder of a branch, as `projects.readme_path` has it.
 * @returns empty where there is none, null where there is no such branch
 */
export async function readmePathOf(repository: Repository, branch: string): Promise<string | null> {
  const commit_id = await resolveBranch(repository, branch);
  return commit_id === undefined ? null : ((await readmeOf(repository, commit_id)) ?? '');
}

/** Where git cannot read the branch, the README is still to be looked for, and the job that does so says why it cannot. */
const readmePathOrUnknown = (repository: Repository, branch: string): Promise<string | null> =>
  readmePathOf(repository, branch).catch(() => null);

/** Finds the README when the default branch has moved, or is another branch now. */
export const readmeFollower: PushFollower = {
  async follow(services, { owner, moved }) {
    // Its commit and tree are in memory then, so that git has nothing to do while the transaction holds its locks.
    await readmePathOrUnknown(repositoryOf(services, owner), owner.default_branch);
    return async (tx) => {
      // Locked, so that of two moves the one whose effects are written last finds what both have left.
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
  // A push in the meantime has found it itself.
  await services.db
    .updateTable('projects')
    .set({ readme_path })
    .where('id', '=', id)
    .where('default_branch', '=', default_branch)
    .where('readme_path', 'is', null)
    .execute();
}

/**
 * Finds the READMEs that were never looked for, for example those of projects that are older than the looking, and of repositories that are restored.
 * @param signal ends it between two repositories
 * @throws AggregateError with the failures of single repositories, after all others are looked at
 */
export const findUnknownReadmes = (services: Pick<Services, 'db' | 'storages'>, signal: AbortSignal): Promise<void> =>
  forEachProject(services.db, sql<boolean>`readme_path is null and not empty_repo`, {
    run: (project) => findReadme(services, project),
    failed: (count) => `The READMEs of ${count} repositories could not be looked for`,
    signal,
  });
