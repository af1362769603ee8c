/** Determines which events belong to the same error (docs/reference/error_tracking.md). */
import { createHash } from 'node:crypto';
import { type JsonObject, textOf } from '../payload/rules.ts';
import {
  baseName,
  crashFrames,
  exceptionsOf,
  framesOf,
  messageOf,
  ownFrames,
  syntheticMessage,
  thrownBy,
} from './stack_rules.ts';

/** Platforms whose context lines are not source code written by people. */
const nativePlatforms = new Set(['native', 'c', 'objc', 'cocoa']);
const defaultMarker = /^\{\{\s*default\s*\}\}$/;
const maximumCompared = 1024;

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** A text without the parts that vary between events. */
const withoutValues = (text: string): string =>
  text
    .slice(0, maximumCompared)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>')
    .replace(/"[^"]*"|'[^']*'/g, '<text>')
    .replace(/\b(?:0x[0-9a-f]+|(?=[0-9a-f]*[0-9])[0-9a-f]{8,})\b/gi, '<hex>')
    .replace(/\d+(?:\.\d+)?/g, '<number>');

function frameParts(frame: JsonObject, platform: string): string[] {
  const file = textOf(frame.module) ?? baseName(textOf(frame.filename) ?? '').toLowerCase();
  const line = nativePlatforms.has(platform) ? undefined : textOf(frame.context_line);
  return [file, textOf(frame.function) ?? '', line?.trim() ?? ''];
}

const stackParts = (frames: JsonObject[], platform: string) =>
  ownFrames(frames).flatMap((frame) => frameParts(frame, platform));

/** Groups by the stacks of the exception and its causes, or by the message if there is no stack. */
function defaultParts(payload: JsonObject, platform: string): string[] {
  const thrown = thrownBy(payload);
  if (thrown === undefined) {
    const message = messageOf(payload);
    return ['message', message?.template ?? withoutValues(message?.formatted ?? syntheticMessage(payload) ?? '')];
  }
  const exceptions = exceptionsOf(payload);
  const type = (exception: JsonObject) => textOf(exception.type) ?? 'Error';
  if (exceptions.some((exception) => framesOf(exception).length > 0))
    return exceptions.flatMap((exception) => ['stack', type(exception), ...stackParts(framesOf(exception), platform)]);
  const ofThread = crashFrames(payload);
  if (ofThread.length > 0) return ['stack', type(thrown), ...stackParts(ofThread, platform)];
  return ['value', type(thrown), withoutValues(textOf(thrown.value) ?? '')];
}

/**
 * The fingerprint shared by the events of an error, 32 hexadecimal digits.
 * @param payload within its limits
 */
export function fingerprintOf(payload: JsonObject, platform: string): string {
  const byDefault = hashOf(defaultParts(payload, platform));
  const given = Array.isArray(payload.fingerprint)
    ? payload.fingerprint.map((part) => textOf(part) ?? '').filter(Boolean)
    : [];
  if (given.length === 0) return byDefault;
  return hashOf(given.map((part) => (defaultMarker.test(part) ? byDefault : part)));
}
