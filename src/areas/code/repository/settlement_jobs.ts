/** Settles reference moves that were announced in the database and then interrupted by a crash. */
import { sql } from 'kysely';
import type { RefUpdate } from '../../../git/index.ts';
import { removeStaleLocks } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import type { Owner } from '../../../services/index.ts';
import { ownedRepository, whatMoved } from './git.ts';
import { kindOfRow, refsChanged } from './moving/actions.ts';
import { followDefaultBranch } from './owners/head_actions.ts';

/** A row this old belongs to a dead process: git moves references within seconds of the row. */
export const abandoned_minutes = 15;
const settledAtOnce = 1000;

/** The owner in a journal row. */
const owners = ({ repositories }: Services) =>
  sql.join(
    repositories.kinds.map(
      ({ table, column }) => sql`
        select jsonb_build_object('id', id, 'storage', storage) from ${sql.table(table)} where id = reference_updates.${sql.ref(column)}`,
    ),
    sql` union all `,
  );

/**
 * Takes over the rows of dead processes. If the references have moved, the effects are written; if not, the row is deleted once no process can still be about to move them. A row
 * without references is for a changed default branch, and HEAD is set to it.
 * @param alone_since the start time of the only server that uses these storages: older rows and locks on references have no holder. The locks of a killed git process remain, and
 *   no other process moves the reference while they exist. Omit it if there may be other servers.
 * @returns the number of settled rows
 * @throws AggregateError with the failures of single rows, after all others were settled
 */
export async function settleReferenceUpdates(
  services: Services,
  { alone_since }: { alone_since?: Date } = {},
): Promise<number> {
  const rows = await services.db
    .selectFrom('reference_updates')
    .select(['id', 'updates'])
    .select(sql<Owner>`(${owners(services)})`.as('owner'))
    .select(services.repositories.kinds.map(({ column }) => column))
    .select(
      sql<boolean>`created_at < greatest(now() - make_interval(mins => ${abandoned_minutes}), ${alone_since ?? null}::timestamptz)`.as(
        'is_abandoned',
      ),
    )
    .orderBy('id')
    .limit(settledAtOnce)
    .execute();
  const failures: unknown[] = [];
  let settled = 0;
  for (const { id, updates, is_abandoned, owner, ...row } of rows) {
    try {
      const announced = updates as unknown as RefUpdate[];
      const repository = ownedRepository(services, { kind: kindOfRow(services, row), owner });
      if (alone_since) await removeStaleLocks(repository, alone_since);
      const moved = await whatMoved(repository, announced);
      // A push that has moved some of its references may be about to move the others.
      if (moved.length < announced.length && !is_abandoned) continue;
      if (announced.length === 0) await followDefaultBranch(services, id);
      else await refsChanged(services, id, moved);
      settled++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} reference updates could not be settled`);
  return settled;
}

/** A starting server settles the rows that a crash has left; this job is for installations with several servers, one of which has crashed. */
export const settleReferences = job('settle_reference_updates', {
  input: {},
  retries: 0,
  schedule: '*/5 * * * *',
  run: async (services) => {
    const settled = await settleReferenceUpdates(services);
    if (settled > 0) services.log.warn({ settled }, 'settled ref updates that another process had left');
  },
});
