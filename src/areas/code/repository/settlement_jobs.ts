/** Finishing what a crash has left: moves of references that the database knows of as begun only. */
import { sql } from 'kysely';
import type { RefUpdate } from '../../../git/index.ts';
import { repositoryOf } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { refsChanged } from './actions.ts';
import { whatMoved } from './queries.ts';

/** A row that nobody has finished for this long belongs to a process that is gone: git moves references within seconds of the row. */
const abandoned_minutes = 15;
const settledAtOnce = 1000;

/**
 * Takes over the rows that processes which are gone have left: where references have moved, what follows is written; where they have not, the row is
 * dropped once nobody can be about to move them any more.
 * @returns how many rows were settled
 * @throws AggregateError of what prevented single rows, after all others are settled
 */
export async function settleReferenceUpdates(services: Services): Promise<number> {
  const rows = await services.db
    .selectFrom('reference_updates')
    .innerJoin('projects', 'projects.id', 'reference_updates.project_id')
    .select(['reference_updates.id', 'reference_updates.updates', 'projects.id as project_id', 'projects.storage'])
    .select(sql<boolean>`reference_updates.created_at < now() - make_interval(mins => ${abandoned_minutes})`.as('is_abandoned'))
    .orderBy('reference_updates.id')
    .limit(settledAtOnce)
    .execute();
  const failures: unknown[] = [];
  let settled = 0;
  for (const { id, updates, is_abandoned, project_id, storage } of rows) {
    try {
      const announced = updates as unknown as RefUpdate[];
      const moved = await whatMoved(repositoryOf(services, { id: project_id, storage }), announced);
      // A push that has moved a part of its references may be about to move the others.
      if (moved.length < announced.length && !is_abandoned) continue;
      await refsChanged(services, id, moved);
      settled++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} reference updates could not be settled`);
  return settled;
}

/** What a crash has left is settled at the start of a server; this is for servers of which only one of several has crashed. */
export const settleReferences = job('settle_reference_updates', {
  input: {},
  retries: 0,
  schedule: '*/5 * * * *',
  run: async (services) => {
    const settled = await settleReferenceUpdates(services);
    if (settled > 0) services.log.warn({ settled }, 'moves of references were settled that another process had left');
  },
});
