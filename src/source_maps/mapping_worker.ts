/** The thread that `mapping.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { inflateRawSync } from 'node:zlib';
import { AnyMap, originalPositionFor, sourceContentFor, type TraceMap } from '@jridgewell/trace-mapping';
import type { Mapped, Original, ToMap } from './mapping.ts';

/** A map that unpacks to more is none. */
const longestMap_bytes = 32 * 2 ** 20;
/** How many lines before and after are shown, and how much of each. */
const linesAround = 5;
const longestLine = 300;
const longestName = 1024;

/** The lines of a text around one, without splitting all of it. */
function contextIn(text: string, line: number): [number, string][] {
  const context: [number, string][] = [];
  let start = 0;
  for (let number = 1; number <= line + linesAround && start <= text.length; number++) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    if (number >= line - linesAround)
      context.push([number, text.slice(start, Math.min(end, start + longestLine)).toWellFormed()]);
    start = end + 1;
  }
  return context;
}

function originalOf(map: TraceMap, [line, column]: readonly [number, number]): Original | null {
  if (line < 1 || column < 1) return null;
  const { source, line: at, column: column0, name } = originalPositionFor(map, { line, column: column - 1 });
  if (source === null) return null;
  const text = sourceContentFor(map, source);
  const short = (value: string) => value.slice(0, longestName).replaceAll('\0', '').toWellFormed();
  return {
    ...{ source: short(source), line: at, column: column0 + 1, name: name === null ? null : short(name) },
    context: text === null ? [] : contextIn(text, at),
  };
}

function mapped({ bytes, is_deflated, positions }: ToMap): Mapped {
  try {
    const json = is_deflated ? inflateRawSync(bytes, { maxOutputLength: longestMap_bytes }) : Buffer.from(bytes);
    // Some tools put a line in front that keeps browsers from running it.
    const map = new AnyMap(json.toString().replace(/^\)\]\}'[^\n]*\n/, ''));
    return positions.map((position) => originalOf(map, position));
  } catch {
    return undefined;
  }
}

parentPort!.on('message', (asked: ToMap) => parentPort!.postMessage(mapped(asked)));
