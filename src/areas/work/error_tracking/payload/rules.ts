/** Normalises events of SDKs for storage: applies limits, and removes characters that the database cannot store. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Deeper values are cut off; SDKs stop at ten levels. */
const maximumDepth = 40;
const maximumFrames = 50;
const maximumBreadcrumbs = 100;
const maximumMessage = 8192;
/** In characters of JSON. */
const maximumContext = 8192;
const maximumRequest = 8192;
const maximumExtra = 16_384;
const maximumExtras = 262_144;
const maximumVars = 8192;
const maximumUnknown = 16_384;
const maximumTags = 100;
const maximumTagKey = 32;
/** Longer values of tags are cut. */
export const maximumTagValue = 200;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text; numbers and booleans, which some SDKs send instead, are converted. Undefined for anything else and for a blank text. */
export function textOf(value: Json | undefined, longest = maximumMessage): string | undefined {
  const text =
    typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  return text.trim() === '' ? undefined : text.slice(0, longest).toWellFormed();
}

/** The objects of a list, sent by SDKs as an array or as `{ values: [] }`. */
export function objectsIn(value: Json | undefined): JsonObject[] {
  const list = isObject(value) ? value.values : value;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The tags sent by applications, as a list of pairs or as an object, within their limits. */
export function tagPairs(tags: Json | undefined): [key: string, value: string][] {
  const pairs = Array.isArray(tags)
    ? tags.filter((tag): tag is [Json, Json] => Array.isArray(tag) && tag.length === 2)
    : isObject(tags)
      ? Object.entries(tags)
      : [];
  return pairs
    .slice(0, maximumTags)
    .map(([key, value]) => [textOf(key, maximumTagKey), textOf(value, maximumTagValue)])
    .filter((pair): pair is [string, string] => pair.every((part) => part !== undefined));
}

/** A text that PostgreSQL can store: without NUL characters and lone surrogates. */
const clean = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** A copy with clean texts, cut off at the depth limit. Members named `__proto__` are ordinary members. */
export function cleaned(value: Json, depth = 0): Json {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maximumDepth) return null;
  if (Array.isArray(value)) return value.map((member) => cleaned(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [clean(name), cleaned(member, depth + 1)]));
}

function isTooDeep(value: JsonObject | Json[], depth = 0): boolean {
  if (depth >= maximumDepth) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value))
    if (typeof member === 'object' && member !== null && isTooDeep(member, depth + 1)) return true;
  return false;
}

/** The JSON escapes of unclean characters. A text with a backslash can look the same, so a match only triggers a closer check. */
const suspicious = /\\u(?:0000|d[89a-f])/;

const sizeOf = (value: Json): number => JSON.stringify(value).length;

/** The members within a limit each, up to a total limit. */
function within(value: Json | undefined, each: number, together = Number.POSITIVE_INFINITY): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  let rest = together;
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => {
      const size = sizeOf(member);
      if (size > each || size > rest) return false;
      rest -= size;
      return true;
    }),
  );
}

/** The frames at both ends: the first show where the program was, the last where it failed. */
function boundFrames(stack: Json | undefined): Json | undefined {
  // Some old SDKs send only the array of frames.
  if (Array.isArray(stack)) return boundFrames({ frames: stack });
  if (!isObject(stack) || !Array.isArray(stack.frames)) return stack;
  const frames = stack.frames
    .filter(isObject)
    .map((frame) => (frame.vars && sizeOf(frame.vars) > maximumVars ? { ...frame, vars: {} } : frame));
  const half = maximumFrames / 2;
  return {
    ...stack,
    frames: frames.length > maximumFrames ? [...frames.slice(0, half), ...frames.slice(-half)] : frames,
  };
}

const withStacks = (values: Json | undefined): JsonObject[] =>
  objectsIn(values).map((value) =>
    'stacktrace' in value ? { ...value, stacktrace: boundFrames(value.stacktrace)! } : value,
  );

const exceptionMembers = ['type', 'value', 'module', 'stacktrace'];

/** The exceptions of an event; some SDKs send a single one without a list. Any value can be thrown; if it is not a text, its JSON is stored. */
function boundExceptions(given: Json): JsonObject[] {
  const isOne = isObject(given) && !('values' in given) && exceptionMembers.some((name) => name in given);
  return withStacks(isOne ? [given] : given).map((exception) =>
    typeof exception.value === 'object' && exception.value !== null
      ? { ...exception, value: JSON.stringify(exception.value).slice(0, maximumMessage) }
      : exception,
  );
}

/** A message, as a text or in the members of an object. */
function boundMessage(given: Json | undefined): Json | undefined {
  if (typeof given === 'string') return given.slice(0, maximumMessage);
  if (!isObject(given)) return given;
  const { message, formatted } = given;
  return {
    ...given,
    ...(typeof message === 'string' ? { message: message.slice(0, maximumMessage) } : {}),
    ...(typeof formatted === 'string' ? { formatted: formatted.slice(0, maximumMessage) } : {}),
  };
}

/** Members of Sentry's protocol. */
const knownMembers = new Set(
  `event_id timestamp start_timestamp received platform level logger transaction transaction_info culprit server_name release dist environment type modules
  fingerprint errors message logentry exception threads stacktrace breadcrumbs user contexts request extra tags sdk debug_meta spans measurements`.split(
    /\s+/,
  ),
);

/** Member names of the first protocol version, which old SDKs still send. */
const oldNames: ReadonlyMap<string, string> = new Map([
  ['sentry.interfaces.Exception', 'exception'],
  ['sentry.interfaces.Message', 'logentry'],
  ['sentry.interfaces.Stacktrace', 'stacktrace'],
  ['sentry.interfaces.User', 'user'],
  ['sentry.interfaces.Http', 'request'],
  ['sentry.interfaces.Breadcrumbs', 'breadcrumbs'],
  ['sentry.interfaces.Contexts', 'contexts'],
]);

/** Renames old members of an event. If both names are present, the new one wins. */
function withNewNames(event: JsonObject): JsonObject {
  const renamed = Object.entries(event).filter(([name]) => oldNames.has(name));
  if (renamed.length === 0) return event;
  const others = Object.entries(event).filter(([name]) => !oldNames.has(name));
  return Object.fromEntries([...renamed.map(([name, value]) => [oldNames.get(name)!, value] as const), ...others]);
}

/** Removes values that are too large, and unknown members beyond a few. */
function bounded(event: JsonObject): JsonObject {
  const members = Object.entries(event);
  const known = members.filter(([name]) => knownMembers.has(name));
  const unknown = within(
    Object.fromEntries(members.filter(([name]) => !knownMembers.has(name))),
    maximumUnknown,
    maximumUnknown,
  );
  const payload: JsonObject = { ...Object.fromEntries(known), ...unknown };
  const parts: [name: string, value: Json | undefined][] = [
    ['message', boundMessage(payload.message)],
    ['logentry', boundMessage(payload.logentry)],
    [
      'tags',
      payload.tags && (isObject(payload.tags) ? Object.fromEntries(tagPairs(payload.tags)) : tagPairs(payload.tags)),
    ],
    ['contexts', within(payload.contexts, maximumContext)],
    ['extra', within(payload.extra, maximumExtra, maximumExtras)],
    ['request', within(payload.request, maximumRequest, maximumRequest)],
    ['breadcrumbs', payload.breadcrumbs && { values: objectsIn(payload.breadcrumbs).slice(-maximumBreadcrumbs) }],
    ['exception', payload.exception && { values: boundExceptions(payload.exception) }],
    ['stacktrace', boundFrames(payload.stacktrace)],
    ['threads', payload.threads && { values: withStacks(payload.threads) }],
  ];
  const changed = parts.filter((part): part is [string, Json] => part[0] in payload && part[1] !== undefined);
  return { ...payload, ...Object.fromEntries(changed) };
}

/**
 * Applies the limits of docs/reference/error_tracking.md to an event.
 * @param event parsed JSON
 * @param event_id 32 hexadecimal digits
 * @returns the result, also as the text to store
 */
export function storedPayload(event: JsonObject, event_id: string): { payload: JsonObject; text: string } {
  const shallow = isTooDeep(event) ? (cleaned(event) as JsonObject) : event;
  const payload = { ...bounded(withNewNames(shallow)), event_id };
  const text = JSON.stringify(payload);
  if (!suspicious.test(text)) return { payload, text };
  const clean = cleaned(payload) as JsonObject;
  return { payload: clean, text: JSON.stringify(clean) };
}
