/** What a secondary does: it chooses what it copies, brings copies up to date, and verifies them (docs/reference/geo.md#copies). */
import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import type { Poll } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { bringUpToDate } from './copying_actions.ts';
import { isRepository, type Part, type ReplicableRecord } from './definition.ts';
import { damageOfFile } from './file_actions.ts';
import { healCopy, takeDue } from './queue_actions.ts';
import { damageOfRepository } from './repository_actions.ts';
import { selectReplicas } from './selection_actions.ts';
import { completeCopy, rulesOfSite } from './site_queries.ts';

/** Copies do not run faster with more at once; the node may name fewer. */
const mostAtOnce = 2 * availableParallelism();
const verifiedAtOnce = 10;

const chooseReplicas: Poll = {
  name: 'choose_geo_replicas',
  every_ms: 2000,
  run: async (services) => {
    const rules = await rulesOfSite(services);
    if (rules) await selectReplicas(services.db, rules);
    return false;
  },
};

/**
 * One of the places in which copies are brought up to date. Every other one is for what has not failed alone, so that failures never keep new work waiting.
 * @param place counted from 0; one beyond the capacity of the node rests
 */
const copyAt = (part: Part, place: number): Poll => ({
  name: `copy_${part}_${place}`,
  // The first is quick, and the others come when there is more.
  every_ms: place === 0 ? 500 : 2000,
  run: async (services) => {
    const rules = await rulesOfSite(services);
    if (!rules || place >= rules.capacity[part] || (await completeCopy(services.db)) === undefined) return false;
    const takesRetries = place % 2 === 1;
    const first = takesRetries ? await takeDue(services.db, part, true) : undefined;
    const isAlone = Math.min(rules.capacity[part], mostAtOnce) === 1;
    const replica =
      first ?? (await takeDue(services.db, part, false)) ?? (isAlone ? await takeDue(services.db, part, true) : undefined);
    if (!replica) return false;
    await bringUpToDate(services, replica, rules);
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

/** Reads copies again after some days. What is damaged is fetched anew. */
const verifyReplicas: Poll = {
  name: 'verify_geo_replicas',
  every_ms: 5000,
  run: async ({ log: _log, ...services }) => {
    const { db } = services;
    const rules = await rulesOfSite(services);
    if (!rules || rules.capacity.verification === 0 || (await completeCopy(db)) === undefined) return false;
    const { rows } = await sql<ReplicableRecord & { checksum: string; event_id: number }>`
      select replicable, record, checksum, event_id from geo_replicas
       where state = 'synced' and verified_at < now() - make_interval(days => ${rules.reverification_days})
       order by verified_at limit ${Math.min(rules.capacity.verification, verifiedAtOnce)}`.execute(db);
    for (const { checksum, ...replica } of rows) {
      const damage = await damageOf(services, replica, checksum);
      // What is being changed by an event is compared afterwards anyway.
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

const places = Array.from({ length: mostAtOnce }, (_, place) => place);

export const copyPolls: readonly Poll[] = [
  chooseReplicas,
  ...places.map((place) => copyAt('repositories', place)),
  ...places.map((place) => copyAt('files', place)),
  verifyReplicas,
];
