/** A stack frame in the form for replies. */
import { type Json, type JsonObject, textOf } from './rules.ts';

export interface Frame {
  lineNo: number | null;
  colNo: number | null;
  filename: string | null;
  abs_path: string | null;
  function: string | null;
  /** Line numbers with their text. */
  context: [number, string][];
}

const numberOf = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

const linesIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((line) => typeof line === 'string') : [];

/** The lines around the current line; empty if its number or text is unknown. */
function contextOf({ lineno, pre_context, context_line, post_context }: JsonObject): [number, string][] {
  const number = numberOf(lineno);
  if (number === null || typeof context_line !== 'string') return [];
  const before = linesIn(pre_context);
  const lines = [...before, context_line, ...linesIn(post_context)];
  return lines.map((line, index) => [number - before.length + index, line]);
}

/** @param frame as sent by a client */
export const readFrame = (frame: JsonObject): Frame => ({
  lineNo: numberOf(frame.lineno),
  colNo: numberOf(frame.colno),
  filename: textOf(frame.filename) ?? null,
  abs_path: textOf(frame.abs_path) ?? null,
  function: textOf(frame.function) ?? null,
  context: contextOf(frame),
});
