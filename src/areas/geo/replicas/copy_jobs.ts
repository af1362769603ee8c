/**
 * The work of a secondary: it selects what to copy, updates copies, and verifies them (docs/reference/geo.md#copies).
 */
import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Poll } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { bringUpToDate, removeCopy } from './copying_actions.ts';
import { isRepository, type Part, type ReplicableRecord } from './definition.ts';
import { damageOfFile } from './file_actions.ts';
import { healCopy, type StartedReplica, takeDue } from './queue_actions.ts';
import { damageOfRepository } from './repository_actions.ts';
import { isChosen, selectReplicas } from './selection_actions.ts';
import { whileComplete } from './site_queries.ts';

/** More copies at once would not be faster; the node may set a lower limit. */
const maximumAtOnce = 2 * availableParallelism();
const verifiedAtOnce = 10;

const chooseReplicas: Poll = {
  name: 'choose_geo_replicas',
  every_ms: 2000,
  run: async (services) => {
    await whileComplete(services, (tx, rules, copy) => selectReplicas(tx, services, rules, copy));
    return false;
  },
};

/** Claims a due copy that the slot may work on. */
async function takeAt(tx: Database, part: Part, place: number, capacity: number): Promise<StartedReplica | undefined> {
  if (place >= capacity) return undefined;
  const takesRetries = place % 2 === 1;
  const isAlone = Math.min(capacity, maximumAtOnce) === 1;
  const retry = takesRetries ? await takeDue(tx, part, true) : undefined;
  return retry ?? (await takeDue(tx, part, false)) ?? (isAlone ? await takeDue(tx, part, true) : undefined);
}

/**
 * One of the slots that update copies. Every second slot takes failed copies first, and the others only new ones, so
 * that failures never delay new work.
 * @param place counted from 0; a slot beyond the capacity of the node idles
 */
const copyAt = (part: Part, place: number): Poll => ({
  name: `copy_${part}_${place}`,
  // The first slot polls often, the others only help when there is more work.
  every_ms: place === 0 ? 500 : 2000,
  run: async (services) => {
    const taken = await whileComplete(services, async (tx, rules) => {
      const replica = await takeAt(tx, part, place, rules.capacity[part]);
      return replica && { replica, rules, isWanted: await isChosen(tx, services, replica, rules) };
    });
    if (!taken) return false;
    const { replica, rules, isWanted } = taken;
    await (isWanted ? bringUpToDate : removeCopy)(services, replica, rules);
    return true;
  },
});

const damageOf = (
  services: JobServices,
  { replicable, record }: ReplicableRecord,
  checksum: string,
): Promise<string | undefined> =>
  isRepository(replicable)
    ? damageOfRepository(services, replicable, Number(record), checksum)
    : damageOfFile(services, record, checksum);

/** Verifies copies again after some days. Damaged ones are fetched again. */
const verifyReplicas: Poll = {
  name: 'verify_geo_replicas',
  every_ms: 5000,
  run: async ({ log: _log, ...services }) => {
    const { db } = services;
    const rules = await whileComplete(services, async (_tx, site) => site);
    if (!rules || rules.capacity.verification === 0) return false;
    const { rows } = await sql<ReplicableRecord & { checksum: string; event_id: number }>`
      select replicable, record, checksum, event_id from geo_replicas
       where state = 'synced' and verified_at < now() - make_interval(days => ${rules.reverification_days})
       order by verified_at limit ${Math.min(rules.capacity.verification, verifiedAtOnce)}`.execute(db);
    for (const { checksum, ...replica } of rows) {
      const damage = await damageOf(services, replica, checksum);
      // A copy that an event has made due is compared after its update anyway.
      if (damage === undefined)
        await sql`
          update geo_replicas set verified_at = now(), verification_state = 'verified'
           where replicable = ${replica.replicable} and record = ${replica.record} and state = 'synced' and event_id = ${replica.event_id}`.execute(
          db,
        );
      else await healCopy(db, replica, damage);
    }
    return rows.length === verifiedAtOnce;
  },
};

const places = Array.from({ length: maximumAtOnce }, (_, place) => place);

export const copyPolls: readonly Poll[] = [
  chooseReplicas,
  ...places.map((place) => copyAt('repositories', place)),
  ...places.map((place) => copyAt('files', place)),
  verifyReplicas,
];
