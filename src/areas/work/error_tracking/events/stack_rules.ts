/** The exceptions and frames of an event, from which its name, culprit and group are derived. */
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

/** Python's format. */
const placeholders = /%(?:%|(?:\((\w+)\))?[-+ #0]?\d*(?:\.\d+)?[sdifr])/g;
const maximumParameters = 100;
const maximumParameter = 1024;

/** Fills in the parameters of a template, which old SDKs leave to the server. Placeholders without a value stay. */
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

/** The message of an event, sent by SDKs as a text or as an object. */
export function messageOf(payload: JsonObject): Message | undefined {
  for (const given of [payload.logentry, payload.message]) {
    const members = isObject(given) ? given : { formatted: given ?? null };
    const template = textOf(members.message);
    const formatted = textOf(members.formatted) ?? (template && filledIn(template, members.params));
    if (formatted !== undefined) return { formatted, template };
  }
  return undefined;
}

/** The thrown exception, which is the last one; undefined for a message event, even if it includes a stack. */
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

/** The frames of the thrown exception, or else of the crashed or current thread, or of the event itself as in old SDKs. Oldest call first. */
export function crashFrames(payload: JsonObject): JsonObject[] {
  const frames = framesOf(exceptionsOf(payload).at(-1));
  if (frames.length > 0) return frames;
  const threads = objectsIn(payload.threads);
  const ofThread = framesOf(
    threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true),
  );
  return ofThread.length > 0 ? ofThread : framesOf(payload);
}

/** The frames of each exception, oldest cause first; for the thrown exception, those of `crashFrames`. */
export function exceptionFrames(payload: JsonObject): JsonObject[][] {
  const all = exceptionsOf(payload);
  return all.map((exception, index) => (index === all.length - 1 ? crashFrames(payload) : framesOf(exception)));
}

/** The frames of the application's own code, or all if there are none. */
export function ownFrames(frames: JsonObject[]): JsonObject[] {
  const own = frames.filter(({ in_app }) => in_app === true);
  return own.length > 0 ? own : frames;
}

/** The last segment of a path, with slashes or backslashes. */
export const baseName = (file: string): string =>
  file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);

/** The message of an event whose exception only carries a stack. */
export const syntheticMessage = (payload: JsonObject): string | undefined =>
  textOf(exceptionsOf(payload).at(-1)?.value as Json);
