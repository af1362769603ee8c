/** Reading a source map, in time and memory that grow with its size alone. */
import { inflateRawSync } from 'node:zlib';
import { AnyMap, originalPositionFor, sourceContentFor, type TraceMap } from '@jridgewell/trace-mapping';
import type { Mapped, Original, ToMap } from './mapping.ts';
import { areWellFormed } from './well_formed.ts';

/** A file that unpacks to more is refused as a map. */
const maximumMap_bytes = 32 * 2 ** 20;
/** Generated files have fewer, and a list is made for each, also for those that nothing is in. */
const maximumLines = 2_000_000;
/** It is put before each source. */
const maximumRoot = 2_048;
/** How many lines before and after are shown, and how much of each. */
const linesAround = 5;
const maximumLine = 300;
const maximumName = 1024;

/** The structure that is checked before a map is read. A map consists of mappings, or of sections with maps. */
interface Sections {
  mappings?: unknown;
  sources?: unknown;
  names?: unknown;
  sourceRoot?: unknown;
  sections?: { offset?: { line?: unknown }; map?: Sections }[];
}

const linesIn = (mappings: unknown): number => (typeof mappings === 'string' ? mappings.split(';').length : 0);

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** Whether a map needs no more work than its size suggests, and its mappings can be parsed. */
function isReadable(map: Sections): boolean {
  let lines = 0;
  const left = [map];
  for (let next = left.pop(); next; next = left.pop()) {
    if (typeof next.sourceRoot === 'string' && next.sourceRoot.length > maximumRoot) return false;
    const { mappings, sources, names } = next;
    lines += linesIn(mappings);
    for (const { offset, map: inner } of next.sections ?? []) {
      if (typeof offset?.line === 'number') lines = Math.max(lines, offset.line);
      if (inner) left.push(inner);
    }
    if (lines > maximumLines) return false;
    if (
      typeof mappings === 'string' &&
      !areWellFormed({ mappings, sources: lengthOf(sources), names: lengthOf(names) })
    )
      return false;
  }
  return true;
}

/** The lines of a text around one, without splitting all of it. */
function contextIn(text: string, line: number): [number, string][] {
  const context: [number, string][] = [];
  let start = 0;
  for (let number = 1; number <= line + linesAround && start <= text.length; number++) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    if (number >= line - linesAround)
      context.push([number, text.slice(start, Math.min(end, start + maximumLine)).toWellFormed()]);
    start = end + 1;
  }
  return context;
}

function originalOf(map: TraceMap, [line, column]: readonly [number, number]): Original | null {
  if (line < 1 || column < 1) return null;
  const { source, line: at, column: column0, name } = originalPositionFor(map, { line, column: column - 1 });
  if (source === null) return null;
  const text = sourceContentFor(map, source);
  const short = (value: string) => value.slice(0, maximumName).replaceAll('\0', '').toWellFormed();
  return {
    source: short(source),
    line: at,
    column: column0 + 1,
    name: name === null ? null : short(name),
    context: text === null ? [] : contextIn(text, at),
  };
}

/**
 * Where positions come from.
 * @param map its bytes are not kept
 * @returns undefined for a map that cannot be read
 */
export function mapped({ bytes, is_deflated, positions }: ToMap): Mapped {
  try {
    const json = is_deflated ? inflateRawSync(bytes, { maxOutputLength: maximumMap_bytes }) : Buffer.from(bytes);
    // Some tools put a byte order mark in front, which the decoder takes out, or a line that keeps browsers from running it.
    const sections = JSON.parse(new TextDecoder().decode(json).replace(/^\)\]\}'[^\n]*\n/, '')) as Sections;
    if (!isReadable(sections)) return undefined;
    const map = new AnyMap(sections as ConstructorParameters<typeof TraceMap>[0]);
    return positions.map((position) => originalOf(map, position));
  } catch {
    return undefined;
  }
}
