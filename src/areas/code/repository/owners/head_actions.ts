/** HEAD of a project's repository, which is set to the default branch through the journal of moves. */
import type { Database } from '../../../../db/index.ts';
import { repositoryOf, setHead } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { ProjectMove } from '../../../../services/index.ts';
import { beforeAll } from '../moving/actions.ts';
import { projectRepositories } from './project_kind.ts';

/**
 * Records that HEAD of a repository is to be set to its project's new default branch, and writes the effects.
 * @param tx the transaction that changes the default branch
 * @returns the id of the row, for `followDefaultBranch`
 */
export async function announceHead(services: Services, tx: Database, owner: ProjectMove['owner']): Promise<number> {
  const nothing = { user_id: null, changes: undefined, update_id: beforeAll, moved: [] };
  const writeEffects = await projectRepositories.follow(services, { owner, ...nothing });
  await writeEffects(tx);
  const project_id = owner.id;
  const { id } = await tx
    .insertInto('reference_updates')
    .values({ project_id, updates: JSON.stringify([]) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Sets HEAD of a repository to its project's default branch, unless another process has done so.
 * @param id the row of `announceHead`
 */
export async function followDefaultBranch(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .deleteFrom('reference_updates')
      .where('id', '=', id)
      .where('project_id', 'is not', null)
      .returning('project_id')
      .$narrowType<{ project_id: number }>()
      .executeTakeFirst();
    if (!row) return;
    // Locked, so that of two concurrent changes the one committed last also sets HEAD last.
    const project = await tx
      .selectFrom('projects')
      .select(['id', 'storage', 'default_branch'])
      .where('id', '=', row.project_id)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    // Before the commit: if it fails, the row remains, and this is repeated.
    await setHead(repositoryOf(services, project), project.default_branch);
  });
}
