/** Background work of repositories. */
import { Type } from 'typebox';
import { deleteRepository, maintain } from '../../../git/index.ts';
import { repositoryOf } from '../../../git/place.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';

/** Enqueued by every move of references, with the project as its key, so that a busy repository waits for one at most. */
export const maintainRepository = job('maintain_repository', {
  input: { project_id: Id },
  retries: 2,
  run: async ({ input, ...services }) => {
    const project = await services.db
      .selectFrom('projects')
      .select(['id', 'storage'])
      .where('id', '=', input.project_id)
      .executeTakeFirst();
    if (project) await maintain(repositoryOf(services, project));
  },
});

/**
 * Enqueued by the transaction that removes the rows of projects, whose numbers are never used again. It may be cut off anywhere and run again: what is gone
 * already is no error.
 */
export const deleteRepositories = job('delete_repositories', {
  input: { repositories: Type.Array(Type.Object({ id: Id, storage: Type.String() })) },
  retries: 20,
  run: async ({ input, signal, ...services }) => {
    const failures: unknown[] = [];
    for (const place of input.repositories) {
      signal.throwIfAborted();
      try {
        await deleteRepository(repositoryOf(services, place));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} repositories could not be removed`);
  },
});
