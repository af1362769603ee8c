/** Storing events: those that arrive at about the same time are committed together. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { ReceivedEvent } from './event_rules.ts';
import type { Intake } from './intake_queries.ts';
import { digestErrors } from './jobs.ts';

/** The project has sent as many events in this minute as it may. */
export class OverQuota extends Error {}

interface Arrival {
  intake: Intake;
  event: ReceivedEvent;
  done: PromiseWithResolvers<void>;
}

/** How long the first of them waits for others. */
const gather_ms = 2;
const maximumBatch = 200;
const maximumBatch_characters = 16 * 1024 * 1024;

/** Counts the events of each project, and returns how many of them are beyond its limit. */
async function countEvents(tx: Database, arrivals: readonly Arrival[]): Promise<Map<number, number>> {
  const limited = Map.groupBy(
    arrivals.filter(({ intake }) => intake.limit > 0),
    ({ intake }) => intake.project_id,
  );
  const counts = [...limited].map(([project_id, group]) => ({ project_id, count: group.length, limit: group[0]!.intake.limit }));
  if (counts.length === 0) return new Map();
  const { rows } = await sql<{ project_id: number; over: number }>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as given(project_id bigint, count integer, "limit" integer)
    ), counted as (
      insert into error_tracking_rates as rates (project_id, minute, count)
      select given.project_id, date_trunc('minute', now(), 'UTC'), given.count from given join projects on projects.id = given.project_id order by 1
      on conflict (project_id, minute) do update set count = rates.count + excluded.count
      returning project_id, count
    )
    select project_id, least(given.count, counted.count - given."limit") as over
      from counted join given using (project_id) where counted.count > given."limit"`.execute(tx);
  return new Map(rows.map(({ project_id, over }) => [project_id, over]));
}

/** Columns as arrays: one statement for any number of rows. */
async function insertEvents(tx: Database, arrivals: readonly Arrival[]): Promise<void> {
  const all = <T>(column: (arrival: Arrival) => T): T[] => arrivals.map(column);
  await sql`
    insert into error_tracking_events
           (project_id, event_id, occurred_at, environment, level, name, description, actor, platform, release, fingerprint,
            user_hash, tags, payload)
    select project_id, event_id, occurred_at, environment, level, name, description, actor, platform, release, fingerprint,
           decode(user_hash, 'hex'), tags::jsonb, payload
      from unnest(
             ${all(({ intake }) => intake.project_id)}::bigint[], ${all(({ event }) => event.event_id)}::uuid[],
             ${all(({ event }) => event.occurred_at.toISOString())}::timestamptz[], ${all(({ event }) => event.environment)}::text[],
             ${all(({ event }) => event.level)}::text[], ${all(({ event }) => event.name)}::text[],
             ${all(({ event }) => event.description)}::text[], ${all(({ event }) => event.actor)}::text[],
             ${all(({ event }) => event.platform)}::text[], ${all(({ event }) => event.release)}::text[],
             ${all(({ event }) => event.fingerprint)}::text[], ${all(({ event }) => event.user_hash?.toString('hex') ?? null)}::text[],
             ${all(({ event }) => JSON.stringify(event.tags))}::text[], ${all(({ event }) => event.payload)}::text[]
           ) as given(project_id, event_id, occurred_at, environment, level, name, description, actor, platform, release, fingerprint,
                      user_hash, tags, payload)
     where exists (select from projects where projects.id = given.project_id)`.execute(tx);
}

/** Stores what is within the limits of its project. @returns those that are not */
const store = (db: Database, arrivals: readonly Arrival[]): Promise<Set<Arrival>> =>
  db.transaction().execute(async (tx) => {
    const over = await countEvents(tx, arrivals);
    const refused = new Set(
      [...over].flatMap(([project_id, count]) => arrivals.filter(({ intake }) => intake.project_id === project_id).slice(-count)),
    );
    const admitted = arrivals.filter((arrival) => !refused.has(arrival));
    if (admitted.length > 0) {
      await insertEvents(tx, admitted);
      await digestErrors.enqueue(tx, {}, { key: 'digest_errors' });
    }
    return refused;
  });

/** What waits to be stored in a database. */
class Intakes {
  readonly #db: Database;
  #waiting: Arrival[] = [];
  #isStoring = false;

  constructor(db: Database) {
    this.#db = db;
  }

  add(intake: Intake, event: ReceivedEvent): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ intake, event, done });
    if (!this.#isStoring) {
      this.#isStoring = true;
      setTimeout(() => void this.#storeAll(), gather_ms);
    }
    return done.promise;
  }

  #nextBatch(): Arrival[] {
    let characters = 0;
    const size = this.#waiting.findIndex(({ event }, index) => {
      characters += event.payload.length;
      return index >= maximumBatch || (index > 0 && characters > maximumBatch_characters);
    });
    return this.#waiting.splice(0, size < 0 ? this.#waiting.length : size);
  }

  async #storeAll(): Promise<void> {
    for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
      try {
        const refused = await store(this.#db, batch);
        for (const arrival of batch) refused.has(arrival) ? arrival.done.reject(new OverQuota()) : arrival.done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    this.#isStoring = false;
  }
}

const perDatabase = new WeakMap<Database, Intakes>();

/**
 * Stores an event. It is committed when the promise resolves.
 * @throws OverQuota
 */
export function storeEvent(db: Database, intake: Intake, event: ReceivedEvent): Promise<void> {
  let intakes = perDatabase.get(db);
  if (intakes === undefined) {
    intakes = new Intakes(db);
    perDatabase.set(db, intakes);
  }
  return intakes.add(intake, event);
}
