/** Deletes repositories without an owner. */
import { sql } from 'kysely';
import { removeUnusedRepositories } from '../../../people/namespaces/index.ts';
import { removeUnusedRepository } from './unused_actions.ts';

const at_once = 1_000;

/** Enqueued when projects are deleted, and every hour: removes leftovers of crashes, failed deletions, and repositories deleted with a project or user. */
export const removeUnused = removeUnusedRepositories.runBy(async ({ signal, log, ...services }) => {
  const { db, repositories } = services;
  const failures: unknown[] = [];
  let removed = 0;
  for (let after = { kind: '', id: 0 }; ; ) {
    const { rows: due } = await sql<{ kind: string; id: number }>`
      select distinct kind, id from unused_repositories where due_at <= now() and (kind, id) > (${after.kind}, ${after.id})
       order by kind, id limit ${at_once}`.execute(db);
    for (const { kind: name, id } of due) {
      signal.throwIfAborted();
      const kind = repositories.kinds.find((each) => each.name === name);
      try {
        if (kind && (await removeUnusedRepository(services, kind, id))) removed++;
      } catch (error) {
        failures.push(error);
      }
    }
    if (due.length < at_once) break;
    after = due.at(-1)!;
  }
  if (removed > 0) log.info({ removed }, 'deleted repositories that belong to nothing');
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} repositories could not be deleted`);
}, '41 * * * *');
