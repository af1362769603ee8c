/** The stored parts of an event: its payload, and columns derived from it. */
import { createHmac, type KeyObject, randomUUID } from 'node:crypto';
import {
  isObject,
  type Json,
  type JsonObject,
  maximumTagValue,
  storedPayload,
  tagPairs,
  textOf,
} from '../payload/rules.ts';
import { fingerprintOf } from './grouping_rules.ts';
import { crashFrames, exceptionsOf, messageOf, ownFrames, syntheticMessage, thrownBy } from './stack_rules.ts';

const platforms = new Set(
  'as3 c cfml cocoa csharp elixir haskell go groovy java javascript native node objc other perl php python ruby'.split(
    ' ',
  ),
);
/** Includes level names that some SDKs use instead of standard ones. */
const levels = new Map([
  ...['fatal', 'error', 'warning', 'info', 'debug'].map((level) => [level, level] as const),
  ['log', 'info'],
  ['critical', 'fatal'],
  // Numeric levels of Python.
  ...(['debug', 'info', 'warning', 'error', 'fatal'] as const).map(
    (level, index) => [String(10 * (index + 1)), level] as const,
  ),
]);
const maximumName = 255;
const maximumDescription = 1024;
const minute_ms = 60_000;
const day_ms = 86_400_000;

export interface Receipt {
  received_at: Date;
  /** From the header of the envelope; it takes precedence over the id in the event. */
  event_id?: string | undefined;
  /** How far the sender's clock is ahead, in milliseconds. */
  clock_offset_ms?: number | undefined;
  /** The address of the sender, which replaces `{{auto}}`. */
  sender: string;
  /** Per project. */
  user_salt: KeyObject;
}

/** The columns of `error_tracking_events` that come from the sender. */
export interface ReceivedEvent {
  /** 32 hexadecimal digits. */
  event_id: string;
  occurred_at: Date;
  environment: string;
  level: string;
  name: string;
  description: string;
  actor: string;
  platform: string;
  release: string | null;
  fingerprint: string;
  user_hash: Buffer | null;
  tags: Record<string, string>;
  payload: string;
}

/** @returns 32 hexadecimal digits, or undefined if the id is invalid */
export function eventId(value: Json | undefined): string | undefined {
  const id = typeof value === 'string' ? value.replaceAll('-', '').toLowerCase() : '';
  return /^[0-9a-f]{32}$/.test(id) ? id : undefined;
}

const withoutZone = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/i;

/** Parses a time sent by a client: RFC 3339, in UTC if old SDKs omit the zone, or seconds since 1970. */
export function instantOf(value: Json | undefined): Date | undefined {
  const given = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? value : Number.NaN;
  const date = new Date(typeof given === 'string' && withoutZone.test(given) ? `${given}Z` : given);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/**
 * Converts a time of a client to our clock.
 * @returns the time of receipt if it is missing or implausible: more than a minute ahead, or older than 30 days
 */
export function credibleTime(
  value: Json | undefined,
  { received_at, clock_offset_ms = 0 }: Pick<Receipt, 'received_at' | 'clock_offset_ms'>,
): Date {
  const said = instantOf(value);
  if (said === undefined) return received_at;
  const age_ms = received_at.getTime() - (said.getTime() - clock_offset_ms);
  return age_ms < -minute_ms || age_ms > 30 * day_ms ? received_at : new Date(received_at.getTime() - age_ms);
}

/** The tags sent by applications, with those that every event has. */
function tagsOf({ tags }: JsonObject, always: Record<string, string | undefined>): Record<string, string> {
  const own = Object.entries(always).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return Object.fromEntries([...tagPairs(tags), ...own]);
}

/** Clients that do not know the address of their user send `{{auto}}`. */
function withAddress(event: JsonObject, { sender }: Receipt): JsonObject {
  const { user } = event;
  return isObject(user) && user.ip_address === '{{auto}}' ? { ...event, user: { ...user, ip_address: sender } } : event;
}

/** A pseudonym for a user. */
export const hashOfUser = (user_salt: KeyObject, kind: string, identity: string): Buffer =>
  createHmac('sha256', user_salt).update(`${kind}:${identity}`).digest().subarray(0, 16);

/** The hash of the user who encountered the error, from the first identifying field. */
function userHash(payload: JsonObject, { user_salt }: Receipt): Buffer | null {
  const user = isObject(payload.user) ? payload.user : {};
  const identities: [kind: string, value: Json | undefined][] = [
    ['id', user.id],
    ['email', user.email],
    ['username', user.username],
    ['ip_address', user.ip_address],
  ];
  const found = identities.find(([, value]) => textOf(value) !== undefined);
  return found ? hashOfUser(user_salt, found[0], textOf(found[1])!) : null;
}

function actorOf(payload: JsonObject, name: string): string {
  const named = textOf(payload.transaction, maximumName) ?? textOf(payload.culprit, maximumName);
  if (named !== undefined) return named;
  const last = ownFrames(crashFrames(payload)).at(-1);
  const place = textOf(last?.module) ?? textOf(last?.filename);
  const called = textOf(last?.function);
  if (last === undefined || (called === undefined && place === undefined)) return name;
  return `${called ?? '<unknown>'}(${place ?? '<unknown>'})`.slice(0, maximumName);
}

/** The name and the description of an error. */
function titleOf(payload: JsonObject): { name: string; description: string } {
  const thrown = thrownBy(payload);
  if (thrown !== undefined)
    return {
      name: textOf(thrown.type, maximumName) ?? 'Error',
      description: textOf(thrown.value, maximumDescription) ?? '',
    };
  const said = messageOf(payload)?.formatted ?? syntheticMessage(payload) ?? 'Error';
  return {
    name: said.split('\n', 1)[0]!.slice(0, maximumName).toWellFormed(),
    description: said.slice(0, maximumDescription).toWellFormed(),
  };
}

const isSupported = (event: JsonObject): boolean => exceptionsOf(event).length > 0 || messageOf(event) !== undefined;

/**
 * Parses an event.
 * @param event parsed JSON
 * @returns undefined if it has neither an exception nor a message
 */
export function readEvent(event: Json, receipt: Receipt): ReceivedEvent | undefined {
  if (!isObject(event)) return undefined;
  const event_id = receipt.event_id ?? eventId(event.event_id) ?? randomUUID().replaceAll('-', '');
  const { payload, text } = storedPayload(withAddress(event, receipt), event_id);
  if (!isSupported(payload)) return undefined;
  const { name, description } = titleOf(payload);
  const platform = typeof payload.platform === 'string' && platforms.has(payload.platform) ? payload.platform : 'other';
  const level = levels.get(textOf(payload.level) ?? '') ?? 'error';
  const environment = textOf(payload.environment, maximumName) ?? 'production';
  const release = textOf(payload.release, maximumName) ?? null;
  const always = {
    environment,
    level,
    release: release?.slice(0, maximumTagValue),
    server_name: textOf(payload.server_name, maximumTagValue),
  };
  return {
    event_id,
    occurred_at: credibleTime(payload.timestamp, receipt),
    environment,
    level,
    name,
    description,
    actor: actorOf(payload, name),
    platform,
    release,
    fingerprint: fingerprintOf(payload, platform),
    user_hash: userHash(payload, receipt),
    tags: tagsOf(payload, always),
    payload: text,
  };
}
