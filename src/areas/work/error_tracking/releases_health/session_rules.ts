/** Parses data about the health of a release: sessions and user reports. Nothing is refused: invalid data is dropped. */

import { credibleTime, eventId, hashOfUser, type Receipt } from '../events/rules.ts';
import { cleaned, isObject, type Json, type JsonObject, objectsIn, textOf } from '../payload/rules.ts';

const states = ['started', 'exited', 'errored', 'crashed', 'abnormal'] as const;
export type SessionState = (typeof states)[number];

/** Per envelope; also the most buckets per item. */
export const maximumSessions = 100;
/** The largest count of one state in a bucket. */
const maximumCount = 1_000_000;
const maximumName = 255;
const maximumComments = 4096;

interface OfRelease {
  release: string;
  environment: string;
  /** The start time of the sessions. */
  started_at: Date;
  user_hash: Buffer | null;
}

/** The state of one session. */
export interface SessionChange extends OfRelease {
  /** 32 hexadecimal digits. */
  session_id: string;
  state: SessionState;
  changed_at: Date;
}

/** Sessions aggregated by the client. */
export interface SessionBucket extends OfRelease {
  counts: Record<SessionState, number>;
}

export interface UserReport {
  /** 32 hexadecimal digits. */
  event_id: string;
  report: { name: string | null; email: string | null; comments: string | null; created_at: string };
}

type SessionReceipt = Pick<Receipt, 'received_at' | 'clock_offset_ms' | 'user_salt'>;

/** The hash of a user that a client identifies by an id, as for the user of an event. */
const userHash = (did: Json | undefined, { user_salt }: SessionReceipt): Buffer | null => {
  const id = textOf(did);
  return id === undefined ? null : hashOfUser(user_salt, 'id', id);
};

/** Undefined without a release: such sessions do not count towards the health of one. */
function releaseOf(item: JsonObject): Pick<OfRelease, 'release' | 'environment'> | undefined {
  const attributes = isObject(item.attrs) ? item.attrs : {};
  const release = textOf(attributes.release, maximumName);
  return release === undefined
    ? undefined
    : { release, environment: textOf(attributes.environment, maximumName) ?? 'production' };
}

function stateOf({ status, errors }: JsonObject): SessionState {
  if (status === 'crashed' || status === 'abnormal') return status;
  if (status === 'errored' || (typeof errors === 'number' && errors > 0)) return 'errored';
  return status === 'exited' ? 'exited' : 'started';
}

/**
 * Parses a `session` item.
 * @param given parsed JSON
 * @returns undefined without a session or a release
 */
export function readSession(given: Json, receipt: SessionReceipt): SessionChange | undefined {
  const item = cleaned(given);
  if (!isObject(item)) return undefined;
  const [session_id, release] = [eventId(item.sid), releaseOf(item)];
  if (session_id === undefined || release === undefined) return undefined;
  return {
    ...release,
    session_id,
    state: stateOf(item),
    started_at: credibleTime(item.started, receipt),
    changed_at: credibleTime(item.timestamp, receipt),
    user_hash: userHash(item.did, receipt),
  };
}

const countOf = (value: Json | undefined): number =>
  typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), maximumCount) : 0;

/**
 * Parses a `sessions` item.
 * @param given parsed JSON
 * @returns at most a hundred buckets
 */
export function readBuckets(given: Json, receipt: SessionReceipt): SessionBucket[] {
  const item = cleaned(given);
  const release = isObject(item) ? releaseOf(item) : undefined;
  if (!isObject(item) || release === undefined) return [];
  return objectsIn(item.aggregates)
    .slice(0, maximumSessions)
    .map((bucket) => ({
      ...release,
      started_at: credibleTime(bucket.started, receipt),
      user_hash: userHash(bucket.did, receipt),
      counts: Object.fromEntries(states.map((state) => [state, countOf(bucket[state])])) as Record<
        SessionState,
        number
      >,
    }));
}

/**
 * Parses a `user_report` item.
 * @param given parsed JSON
 * @returns undefined if it refers to no event
 */
export function readUserReport(given: Json, { received_at }: Pick<Receipt, 'received_at'>): UserReport | undefined {
  const item = cleaned(given);
  if (!isObject(item)) return undefined;
  const event_id = eventId(item.event_id);
  if (event_id === undefined) return undefined;
  const text = (value: Json | undefined, longest: number) => textOf(value, longest) ?? null;
  return {
    event_id,
    report: {
      name: text(item.name, maximumName),
      email: text(item.email, maximumName),
      comments: text(item.comments, maximumComments),
      created_at: received_at.toISOString(),
    },
  };
}
