/** Converts values of PostgreSQL to values of JavaScript: times become the strings of the API, numbers become numbers. */
import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';

const oids = {
  int8: 20,
  numeric: 1700,
  date: 1082,
  timestamptz: 1184,
  int8Array: 1016,
  numericArray: 1231,
  dateArray: 1182,
  timestamptzArray: 1185,
  textArray: 1009,
};

const splitAny = (pg.types.getTypeParser as (oid: number) => (text: string) => (string | null)[])(oids.textArray);

/** The elements of an array of any type. The parser of pg reads character by character, which only quotes and nested arrays need. */
function split(text: string): (string | null)[] {
  if (text === '{}') return [];
  if (!text.startsWith('{') || text.includes('"') || text.includes('{', 1)) return splitAny(text);
  return text
    .slice(1, -1)
    .split(',')
    .map((entry) => (entry === 'NULL' ? null : entry));
}

const arrayOf =
  <T>(parse: (text: string) => T) =>
  (text: string) =>
    split(text).map((entry) => (entry === null ? null : parse(entry)));

const asText = (text: string) => text;

/** Identifiers and counts stay far below 2^53, so numbers are exact; bigint would need care in every JSON reply. */
const parsers = new Map<number, (text: string) => unknown>([
  [oids.int8, Number],
  [oids.numeric, Number],
  [oids.date, asText],
  [oids.timestamptz, readTimestamp],
  [oids.int8Array, arrayOf(Number)],
  [oids.numericArray, arrayOf(Number)],
  [oids.dateArray, arrayOf(asText)],
  [oids.timestamptzArray, arrayOf(readTimestamp)],
  [oids.textArray, split],
]);

/** Passed to each pool instead of set globally, because graphile-worker's own pool expects the dates of pg. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, (format ?? 'text') as 'text'),
};

/**
 * A `timestamptz` as ISO 8601 in UTC with three decimals; slicing takes a fifth of the time of Date, in every row of every list.
 * @param text PostgreSQL's output in DateStyle ISO, such as `2026-01-02 03:04:05.678901+00`; `infinity` and `-infinity` stay as they are
 */
export function readTimestamp(text: string): string {
  const inUtc = text.endsWith('+00') && text[10] === ' ';
  if (!inUtc) return readUnusualTimestamp(text);
  const milliseconds = text[19] === '.' ? text.slice(20, Math.min(23, text.length - 3)).padEnd(3, '0') : '000';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}

const unusual = /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/;

/** Other zones, years beyond four digits and years before Christ. */
function readUnusualTimestamp(text: string): string {
  const parts = unusual.exec(text);
  if (parts === null) return text;
  const number = (group: number) => Number(parts[group] ?? 0);
  const offset_s = (number(9) * 3600 + number(10) * 60 + number(11)) * (parts[8] === '-' ? -1 : 1);
  const milliseconds = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const time = new Date(0);
  time.setUTCFullYear(parts[12] === undefined ? number(1) : 1 - number(1), number(2) - 1, number(3));
  time.setUTCHours(number(4), number(5), number(6) - offset_s, milliseconds);
  return time.toISOString();
}

/**
 * A time in the format of the API, for JSON that PostgreSQL builds: there it formats times differently than in rows.
 * @param time a column or an expression, of the type `timestamptz`
 */
export const momentInJson = (time: string | RawBuilder<unknown>): RawBuilder<string> =>
  sql`to_char(${typeof time === 'string' ? sql.ref(time) : time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
