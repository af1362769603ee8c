/** Deletes repositories of snippets that do not exist. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { removeUnusedRepository } from './snippet_actions.ts';

/** A new snippet gets its row within seconds of its repository. */
const spared = sql`interval '1 hour'`;
const perRun = 10_000;

/** Every hour: what a crash has left, and the repositories of snippets that went with their project or user. */
export const removeUnusedRepositories = job('remove_unused_repositories', {
  input: {},
  retries: 0,
  schedule: '41 * * * *',
  run: async ({ db, storages, signal, log }) => {
    const unused = await db
      .selectFrom('unused_repositories')
      .select('snippet_id')
      .where(sql<boolean>`since < now() - ${spared}`)
      .orderBy('since')
      .limit(perRun)
      .execute();
    const failures: unknown[] = [];
    let removed = 0;
    for (const { snippet_id } of unused) {
      signal.throwIfAborted();
      try {
        if (await removeUnusedRepository({ db, storages }, snippet_id)) removed++;
      } catch (error) {
        failures.push(error);
      }
    }
    if (removed > 0) log.info({ removed }, 'repositories of snippets that do not exist were deleted');
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} repositories could not be deleted`);
  },
});
