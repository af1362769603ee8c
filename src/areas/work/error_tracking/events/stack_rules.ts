/** What was thrown, and where: the parts of an event that its name, its actor and its group are made of. */
import { isObject, type Json, type JsonObject, objectsIn, textOf } from '../payload/rules.ts';

export const framesOf = (value: JsonObject | undefined): JsonObject[] =>
  isObject(value?.stacktrace) ? objectsIn(value.stacktrace.frames) : [];

/** The exceptions, oldest cause first. */
export const exceptionsOf = (payload: JsonObject): JsonObject[] => objectsIn(payload.exception);

export interface Message {
  /** With its parameters filled in. */
  formatted: string;
  /** With placeholders, if there is one. */
  template: string | undefined;
}

/** As Python writes them. */
const placeholders = /%(?:%|(?:\((\w+)\))?[-+ #0]?\d*(?:\.\d+)?[sdifr])/g;
const maximumParameters = 100;
const maximumParameter = 1024;

/** A template with its parameters filled in, which old SDKs leave to the server. Placeholders without a text stay. */
function filledIn(template: string, params: Json | undefined): string {
  if (typeof params !== 'object' || params === null) return template;
  const values = Object.values(params);
  if (values.length === 0) return template;
  const named = new Map(Object.entries(params));
  let next = 0;
  let count = 0;
  return template.replace(placeholders, (found, name?: string) => {
    if (++count > maximumParameters) return found;
    if (found === '%%') return '%';
    return textOf(name === undefined ? values[next++] : named.get(name), maximumParameter) ?? found;
  });
}

/** The message of an event, which SDKs send as a text or as an object. */
export function messageOf(payload: JsonObject): Message | undefined {
  for (const given of [payload.logentry, payload.message]) {
    const members = isObject(given) ? given : { formatted: given ?? null };
    const template = textOf(members.message);
    const formatted = textOf(members.formatted) ?? (template && filledIn(template, members.params));
    if (formatted !== undefined) return { formatted, template };
  }
  return undefined;
}

/** The exception that was thrown, which is the last; undefined for an event that is about a message, whatever stack it brings along. */
export function thrownBy(payload: JsonObject): JsonObject | undefined {
  const thrown = exceptionsOf(payload).at(-1);
  if (thrown === undefined) return undefined;
  const isSynthetic = isObject(thrown.mechanism) && thrown.mechanism.synthetic === true;
  const hasMessage = messageOf(payload) !== undefined;
  const isForMessage =
    (isSynthetic && (hasMessage || textOf(thrown.value) !== undefined)) ||
    (hasMessage && textOf(thrown.type) === undefined);
  return isForMessage ? undefined : thrown;
}

/** The frames of the thrown exception; without any, of the thread that crashed or is current, or of the event itself, where old SDKs have them. Oldest call first. */
export function crashFrames(payload: JsonObject): JsonObject[] {
  const frames = framesOf(exceptionsOf(payload).at(-1));
  if (frames.length > 0) return frames;
  const threads = objectsIn(payload.threads);
  const ofThread = framesOf(
    threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true),
  );
  return ofThread.length > 0 ? ofThread : framesOf(payload);
}

/** The frames of each exception, oldest cause first; of the one that was thrown, those of `crashFrames`. */
export function exceptionFrames(payload: JsonObject): JsonObject[][] {
  const all = exceptionsOf(payload);
  return all.map((exception, index) => (index === all.length - 1 ? crashFrames(payload) : framesOf(exception)));
}

/** The frames of the application itself, or all when none is. */
export function ownFrames(frames: JsonObject[]): JsonObject[] {
  const own = frames.filter(({ in_app }) => in_app === true);
  return own.length > 0 ? own : frames;
}

/** The last segment of a path, with slashes of any system. */
export const baseName = (file: string): string =>
  file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);

/** The message of an event whose exception only carries the stack of one. */
export const syntheticMessage = (payload: JsonObject): string | undefined =>
  textOf(exceptionsOf(payload).at(-1)?.value as Json);
