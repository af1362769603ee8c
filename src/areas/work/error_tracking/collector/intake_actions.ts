/** Stores the data of clients: requests that arrive at about the same time are committed together. */
import { sql } from 'kysely';
import { type Database, repeated } from '../../../../db/index.ts';
import { cacheOf } from '../../../../foundation/caches.ts';
import { digestErrors } from '../errors/jobs.ts';
import type { ReceivedEvent } from '../events/rules.ts';
import { storeSessions, storeUserReports } from '../releases_health/session_actions.ts';
import type { SessionBucket, SessionChange, UserReport } from '../releases_health/session_rules.ts';
import type { Intake } from './intake_queries.ts';

/** The project has reached its quota of events or bytes for this minute. */
export class OverQuota extends Error {}

/** The data of one request. */
export interface Received {
  event?: ReceivedEvent;
  sessions: readonly SessionChange[];
  buckets: readonly SessionBucket[];
  user_reports: readonly UserReport[];
}

interface Arrival extends Received {
  intake: Intake;
  done: PromiseWithResolvers<void>;
}
type EventArrival = Arrival & { event: ReceivedEvent };

/** How long the first request of a batch waits for others. */
const gather_ms = 2;
const maximumBatch = 200;
const maximumBatch_characters = 16 * 1024 * 1024;
const minute_ms = 60_000;
/** The number of sessions and reports that a project may send per event of its quota. */
const othersPerEvent = 100;

/**
 * The quota of a project in bytes per minute, besides the number of its events: a small body can decompress to a large one, and a large body can cost as much as many events. Each
 * process counts by itself, because each does its own work for them.
 */
interface Volume {
  /** Decompressed bytes, whether stored or not. */
  read: number;
  /** Bytes of stored events. */
  kept: number;
}
/** The quota per event of the limit; at least one body and one event of the largest size are allowed. */
const perEvent: Volume = { read: 256 * 1024, kept: 32 * 1024 };
const least: Volume = { read: 100 * 1024 * 1024, kept: 1024 * 1024 };
/** The above is the quota of one client key. All keys of a project together have twice that, so that a key on a web page leaves quota for the others. */
const keysAtOnce = 2;

const hasEvent = (arrival: Arrival): arrival is EventArrival => arrival.event !== undefined;
const othersOf = ({ sessions, buckets, user_reports }: Received): number =>
  sessions.length + buckets.length + user_reports.length;

/** The excess of a project over its limits: the number of its events, and whether its sessions and reports exceed them too. */
interface Excess {
  events: number;
  others: boolean;
}

/** Counts the data of each project that has a limit. */
async function countArrivals(tx: Database, arrivals: readonly Arrival[]): Promise<Map<number, Excess>> {
  const limited = Map.groupBy(
    arrivals.filter(({ intake }) => intake.limit > 0),
    ({ intake }) => intake.project_id,
  );
  const counts = [...limited].map(([project_id, group]) => ({
    project_id,
    count: group.filter(hasEvent).length,
    others: group.reduce((sum, arrival) => sum + othersOf(arrival), 0),
    limit: group[0]!.intake.limit,
  }));
  if (counts.length === 0) return new Map();
  const { rows } = await sql<Excess & { project_id: number }>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as given(project_id bigint, count integer, others integer, "limit" integer)
    ), counted as (
      insert into error_tracking_rates as rates (project_id, minute, count, others)
      select given.project_id, date_trunc('minute', now(), 'UTC'), given.count, given.others
        from given join projects on projects.id = given.project_id order by 1
      on conflict (project_id, minute) do update set count = rates.count + excluded.count, others = rates.others + excluded.others
      returning project_id, count, others
    )
    select project_id, greatest(0, least(given.count, counted.count - given."limit")) as events,
           counted.others > given."limit"::bigint * ${othersPerEvent} as others
      from counted join given using (project_id)`.execute(tx);
  return new Map(rows.map(({ project_id, ...excess }) => [project_id, excess]));
}

/** The end offsets of consecutive values. */
function endsOf(lengths: readonly number[]): number[] {
  let end = 0;
  return lengths.map((length) => (end += length));
}

/**
 * Columns as arrays: one statement for any number of rows. The payloads are cut from one value, because PostgreSQL would parse each character of them twice in an array of texts.
 * If the error of an event is known, its id is stored here, and the event is counted when it is grouped; the lock keeps the error from being deleted before that.
 */
async function insertEvents(tx: Database, arrivals: readonly EventArrival[]): Promise<void> {
  const all = <T>(column: (arrival: EventArrival) => T): T[] => arrivals.map(column);
  const payloads = all(({ event }) => Buffer.from(event.payload));
  const lengths = payloads.map(({ length }) => length);
  await sql`
    with stored as (
      insert into error_tracking_events
             (project_id, event_id, error_id, occurred_at, environment, level, name, description, actor, platform, release, fingerprint,
              user_hash, tags, payload)
      select project_id, event_id, known.id, occurred_at, environment, level, name, description, actor, platform, release, fingerprint,
             decode(user_hash, 'hex'), tags::jsonb, convert_from(substring(${Buffer.concat(payloads)}::bytea from ends - length + 1 for length), 'UTF8')
        from unnest(
             ${all(({ intake }) => intake.project_id)}::bigint[], ${all(({ event }) => event.event_id)}::uuid[],
             ${all(({ event }) => event.occurred_at.toISOString())}::timestamptz[], ${all(({ event }) => event.environment)}::text[],
             ${all(({ event }) => event.level)}::text[], ${all(({ event }) => event.name)}::text[],
             ${all(({ event }) => event.description)}::text[], ${all(({ event }) => event.actor)}::text[],
             ${all(({ event }) => event.platform)}::text[], ${all(({ event }) => event.release)}::text[],
             ${all(({ event }) => event.fingerprint)}::text[], ${all(({ event }) => event.user_hash?.toString('hex') ?? null)}::text[],
             ${all(({ event }) => JSON.stringify(event.tags))}::text[], ${lengths}::integer[], ${endsOf(lengths)}::integer[]
           ) as given(project_id, event_id, occurred_at, environment, level, name, description, actor, platform, release, fingerprint,
                      user_hash, tags, length, ends)
             left join lateral (
               select id from error_tracking_errors errors
                where errors.project_id = given.project_id and errors.fingerprint = given.fingerprint
                  for key share) known on true
       where exists (select from projects where projects.id = given.project_id)
      returning id, received_at
    )
    insert into error_tracking_waiting_events (id, received_at) select id, received_at from stored`.execute(tx);
}

/** Stores the arrivals within the limits of their projects. @returns the others */
const store = (db: Database, arrivals: readonly Arrival[]): Promise<Set<Arrival>> =>
  repeated(db, async (tx) => {
    const excess = await countArrivals(tx, arrivals);
    const events = arrivals.filter(hasEvent);
    const refused = new Set<Arrival>(
      [...excess].flatMap(([project_id, { events: count }]) =>
        count === 0 ? [] : events.filter(({ intake }) => intake.project_id === project_id).slice(-count),
      ),
    );
    const admitted = events.filter((arrival) => !refused.has(arrival));
    if (admitted.length > 0) {
      await insertEvents(tx, admitted);
      await digestErrors.enqueue(tx, {}, { key: 'digest_errors' });
    }
    await storeOthers(
      tx,
      arrivals.filter((arrival) => !refused.has(arrival) && !excess.get(arrival.intake.project_id)?.others),
    );
    return refused;
  });

/** Stores sessions and reports, after the events, because reports refer to them. */
async function storeOthers(tx: Database, arrivals: readonly Arrival[]): Promise<void> {
  const all = <T>(kind: (arrival: Arrival) => readonly T[]) =>
    arrivals.flatMap((arrival) => kind(arrival).map((one) => ({ ...one, project_id: arrival.intake.project_id })));
  await storeSessions(tx, { changes: all(({ sessions }) => sessions), buckets: all(({ buckets }) => buckets) });
  await storeUserReports(
    tx,
    all(({ user_reports }) => user_reports),
  );
}

const ofProject = (project_id: number) => String(project_id);
const ofKey = (project_id: number, key: string) => `${project_id} ${key}`;

const restOfMinute_ms = () => minute_ms - (Date.now() % minute_ms);

/** The queue of data to be stored in a database. */
class Intakes {
  readonly #db: Database;
  #waiting: Arrival[] = [];
  #isStoring = false;
  /** The limits exceeded in this minute, by project and by project key. */
  readonly #exceeded = cacheOf<string, number>(10_000);
  /** The bytes in this minute, by project and by project key. */
  readonly #volumes = cacheOf<string, Volume>(10_000);

  constructor(db: Database) {
    this.#db = db;
  }

  /** @throws OverQuota */
  countBytes({ project_id, limit }: Intake, key: string, kind: keyof Volume, bytes: number): void {
    if (limit === 0) return;
    const most = Math.max(least[kind], limit * perEvent[kind]);
    this.#countFor(ofKey(project_id, key), { kind, bytes, most, limit });
    this.#countFor(ofProject(project_id), { kind, bytes, most: keysAtOnce * most, limit });
  }

  #countFor(
    sender: string,
    { kind, bytes, most, limit }: { kind: keyof Volume; bytes: number; most: number; limit: number },
  ): void {
    const volume = this.#volumes.get(sender) ?? { read: 0, kept: 0 };
    if (volume.read === 0) this.#volumes.set(sender, volume, { ttl: restOfMinute_ms() });
    volume[kind] += bytes;
    if (volume[kind] <= most) return;
    this.#exceeded.set(sender, limit, { ttl: restOfMinute_ms() });
    throw new OverQuota();
  }

  add(intake: Intake, received: Received): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ intake, ...received, done });
    if (!this.#isStoring) {
      this.#isStoring = true;
      setTimeout(() => void this.#storeAll(), gather_ms);
    }
    return done.promise;
  }

  hasExceeded({ project_id, limit }: Intake, key: string): boolean {
    return [ofProject(project_id), ofKey(project_id, key)].some((sender) => this.#exceeded.get(sender) === limit);
  }

  #refuse({ intake, done }: Arrival): void {
    this.#exceeded.set(ofProject(intake.project_id), intake.limit, { ttl: restOfMinute_ms() });
    done.reject(new OverQuota());
  }

  #nextBatch(): Arrival[] {
    let characters = 0;
    const size = this.#waiting.findIndex(({ event }, index) => {
      characters += event?.payload.length ?? 0;
      return index >= maximumBatch || (index > 0 && characters > maximumBatch_characters);
    });
    return this.#waiting.splice(0, size < 0 ? this.#waiting.length : size);
  }

  async #storeAll(): Promise<void> {
    for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
      try {
        const refused = await store(this.#db, batch);
        for (const arrival of batch) refused.has(arrival) ? this.#refuse(arrival) : arrival.done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    this.#isStoring = false;
  }
}

const perDatabase = new WeakMap<Database, Intakes>();

function intakesOf(db: Database): Intakes {
  let intakes = perDatabase.get(db);
  if (intakes === undefined) {
    intakes = new Intakes(db);
    perDatabase.set(db, intakes);
  }
  return intakes;
}

/**
 * Counts the bytes read from a body.
 * @param bytes decompressed
 * @throws OverQuota
 */
export const countRead = (db: Database, intake: Intake, key: string, bytes: number): void =>
  intakesOf(db).countBytes(intake, key, 'read', bytes);

/** Whether the project or the client with this key is known, without a query, to have reached its quota for this minute. */
export const hasExceeded = (db: Database, intake: Intake, key: string): boolean =>
  intakesOf(db).hasExceeded(intake, key);

/**
 * Stores the data of a request. It is committed when the promise resolves.
 * @throws OverQuota
 */
export async function storeReceived(db: Database, intake: Intake, key: string, received: Received): Promise<void> {
  const intakes = intakesOf(db);
  if (received.event) intakes.countBytes(intake, key, 'kept', Buffer.byteLength(received.event.payload));
  await intakes.add(intake, received);
}
