/** Filters shared by all lists: each parameter as a predicate on rows of the kind's table, also negated. */
import { type RawBuilder, sql } from 'kysely';
import type { IssuableKind, MaybeCaller } from '../../../access/index.ts';
import { badParams, idIn } from '../../../http/index.ts';
import { type Filter, narrow, type Predicate, varying, wide } from '../../../lists/index.ts';
import { isFoundIn, readsEveryRow } from '../../../texts/index.ts';
import { emojiNamed } from '../../conversation/award_emoji/index.ts';
import type { NamedLabel, Names } from './name_queries.ts';

/** The rows in which a column is null, or is not null. */
export function valued({ table }: IssuableKind, column: string, word: 'none' | 'any'): Filter {
  const value = sql.ref(`${table}.${column}`);
  if (word === 'any') return varying(sql`${value} is not null`);
  const where: Predicate = sql`${value} is null`;
  return { ...varying(where), bound: { column, where } };
}

/** The rows with a time in a range. */
const during = ({ table }: IssuableKind, column: string, range: RawBuilder<unknown>): Filter => {
  const where: Predicate = sql`${sql.ref(`${table}.${column}`)} ${range}`;
  return { ...varying(where), bound: { column, where } };
};

/** The rows with these ids. */
export const among = ({ table }: IssuableKind, ids: RawBuilder<unknown>): Filter => ({
  ...narrow(sql`${sql.ref(`${table}.id`)} in (${ids})`),
  ids,
});

/** Rows of another table that refer to rows of a kind and have one of some values. */
export interface References {
  /** The name of the table, and the column with the values. */
  rows: string;
  column: string;
  values: readonly number[];
}

/** A predicate on rows: a row of another table refers to them. */
const isReferredToBy = (kind: IssuableKind, rows: string, end = sql``): Predicate =>
  sql`exists (select from ${sql.table(rows)} where ${sql.ref(kind.column)} = ${sql.ref(`${kind.table}.id`)} ${end})`;

/**
 * Reads the few references of one row and searches the values among them. Otherwise PostgreSQL would look up each value, or collect all rows with any of them: `offset 0` prevents
 * a join, and the addition prevents the use of an index on the values.
 */
const refersToOne = (kind: IssuableKind, { rows, column, values }: References): Predicate =>
  isReferredToBy(kind, rows, sql`and ${sql.ref(column)} + 0 = any(${values}::bigint[]) offset 0`);

const idsReferredTo = (kind: IssuableKind, { rows, column, values }: References): RawBuilder<unknown> =>
  sql`select ${sql.ref(kind.column)} from ${sql.table(rows)} where ${sql.ref(column)} = any(${values}::bigint[])`;

/** The rows that have one of the references. */
export const referredTo = (kind: IssuableKind, references: References): Filter => ({
  ...among(kind, idsReferredTo(kind, references)),
  test: refersToOne(kind, references),
});

/** The rows that have none of the references. */
export function notReferredTo(kind: IssuableKind, references: References): Filter {
  const { rows, column, values } = references;
  const isReferredTo = isReferredToBy(kind, rows, sql`and ${sql.ref(column)} = any(${values}::bigint[])`);
  return { ...varying(not(isReferredTo)), test: not(refersToOne(kind, references)) };
}

export const not = (where: Predicate): Predicate => sql`not ${where}`;

/** The keywords for none and any; some parameters are case-insensitive. */
export const wordOf = (text: string): 'none' | 'any' | undefined => {
  const word = text.toLowerCase();
  return word === 'none' || word === 'any' ? word : undefined;
};

/**
 * Parses an id or a keyword.
 * @param words the keywords, in lower case
 * @throws ApiError 400
 */
export function idOr<W extends string>(name: string, text: string, words: readonly W[]): number | W {
  const trimmed = text.trim();
  const word = words.find((known) => known === trimmed.toLowerCase());
  if (word !== undefined) return word;
  const id = idIn(trimmed);
  if (id !== undefined) return id;
  throw badParams(
    `${name} should be an integer, ${words.slice(0, -1).join(', ')}, or ${words.at(-1)}, however got ${text}`,
  );
}

/** `None` and `Any` are keywords if they are the only value; `No Label` is the old name of `None`. */
function labelWord(titles: readonly string[]): 'none' | 'any' | undefined {
  const [title] = titles;
  if (titles.length !== 1) return undefined;
  return title!.toLowerCase() === 'no label' ? 'none' : wordOf(title!);
}

/** The titles of labels to look up. */
export const titlesIn = (titles: readonly string[] | undefined): readonly string[] =>
  titles && labelWord(titles) === undefined ? titles : [];

/** The context of the predicates besides the parameters. */
export interface SeenBy {
  caller: MaybeCaller;
  names: Names;
}

/** The parameters that all lists have, and may have in `not`. */
export interface Excludable {
  labels?: string[];
  author_id?: number;
  author_username?: string;
}
export interface SharedFilters extends Excludable {
  my_reaction_emoji?: string;
  confidential?: boolean;
  created_after?: string;
  created_before?: string;
  updated_after?: string;
  updated_before?: string;
  search?: string;
  in?: string;
  state?: 'opened' | 'closed' | 'locked' | 'merged' | 'all';
}

/** A function per filter, by member of `filters`. */
export type FilterTable<F, S extends SeenBy> = {
  [Name in keyof F]?: (value: NonNullable<F[Name]>, seen: S, all: F) => Filter | Filter[] | undefined;
};

const searchable = ['title', 'description'] as const;

/** The columns named in `in`. Unknown names are ignored; without a known one, `in` counts as omitted. */
function columnsIn(text: string | undefined): readonly (typeof searchable)[number][] {
  const named = searchable.filter((column) => text?.split(',').some((name) => name.trim() === column));
  return named.length > 0 ? named : searchable;
}

/** The rows with and without a reference from another table. */
export function byReferences(kind: IssuableKind, rows: string): Record<'none' | 'any', Filter> {
  const [has, looked] = [isReferredToBy(kind, rows), isReferredToBy(kind, rows, sql`offset 0`)];
  return { any: { ...varying(has), test: looked }, none: { ...varying(not(has)), test: not(looked) } };
}

/** Whether lists sort by label priority, which is stored in the rows. */
const isRanked = ({ table }: IssuableKind): boolean => table !== 'epics';

/** The rows with labels, and the rows without, which have no label priority either. */
function byLabelled(kind: IssuableKind): Record<'none' | 'any', Filter> {
  const { any, none } = byReferences(kind, kind.labels);
  if (!isRanked(kind)) return { any, none };
  const column = 'label_priority';
  return { any, none: { ...none, bound: { column, where: sql`${sql.ref(`${kind.table}.${column}`)} is null` } } };
}

/** The rows with one of some labels. If these labels have a priority everywhere, the priority of the rows is the same or better. */
function byLabel(kind: IssuableKind, labels: readonly NamedLabel[]): Filter {
  const filter = referredTo(kind, { rows: kind.labels, column: 'label_id', values: labels.map(({ id }) => id) });
  const priorities = labels.flatMap(({ priority }) => priority ?? []);
  if (priorities.length === 0 || priorities.length < labels.length || !isRanked(kind)) return filter;
  const where: Predicate = sql`${sql.ref(`${kind.table}.label_priority`)} <= ${Math.max(...priorities)}`;
  return { ...filter, bound: { column: 'label_priority', where } };
}

/** The filters of all lists. */
export function sharedFilters(kind: IssuableKind): FilterTable<SharedFilters, SeenBy> {
  const column = (name: string) => sql.ref(`${kind.table}.${name}`);
  const labelled = byLabelled(kind);
  return {
    labels: (titles, { names }) => {
      const word = labelWord(titles);
      if (word) return [labelled[word]];
      return titles.map((title) => byLabel(kind, names.labels(title)));
    },
    author_id: (author_id) => narrow(sql`${column('author_id')} = ${author_id}`),
    author_username: (username, { names }) => narrow(sql`${column('author_id')} = ${names.user(username) ?? -1}`),
    confidential: (is) => (is ? varying(sql`${column('confidential')}`) : wide(sql`not ${column('confidential')}`)),
    created_after: (at) => during(kind, 'created_at', sql`>= ${at}`),
    // Replies show times in milliseconds, and a list up to the time of a row must include that row.
    created_before: (at) => during(kind, 'created_at', sql`< ${at}::timestamptz + interval '1 millisecond'`),
    updated_after: (at) => during(kind, 'updated_at', sql`>= ${at}`),
    updated_before: (at) => during(kind, 'updated_at', sql`< ${at}::timestamptz + interval '1 millisecond'`),
    search: (text, _seen, all) => {
      const where = isFoundIn(
        text,
        columnsIn(all.in).map((name) => `${kind.table}.${name}`),
      );
      if (!where || readsEveryRow(text)) return where && varying(where);
      return { ...narrow(where), standsAlone: true };
    },
    state: (state) => (state === 'all' ? undefined : wide(sql`${column('state')} = ${state}`)),
  };
}

/**
 * Filters by the caller's own reactions. Anonymous callers have none, so nothing is queried.
 * @param name the name of an emoji, or a keyword
 */
export function reactedTo(kind: IssuableKind, caller: MaybeCaller, name: string): Filter | undefined {
  if (!caller) return undefined;
  const [word, of] = [wordOf(name), sql.ref(kind.column)];
  const own = sql`select ${of} from award_emoji where user_id = ${caller.id} and ${of} is not null`;
  if (word === 'none') return varying(sql`not exists (${own} and ${of} = ${sql.ref(`${kind.table}.id`)})`);
  return among(kind, word === 'any' ? own : sql`${own} and name = ${emojiNamed(name) ?? name}`);
}

/** The filters of all lists in `not`. */
export function sharedExclusions(kind: IssuableKind): FilterTable<Excludable, SeenBy> {
  const author = sql.ref(`${kind.table}.author_id`);
  const labelled = byLabelled(kind);
  return {
    labels: (titles, { names }) => {
      const word = labelWord(titles);
      if (word) return labelled[word === 'any' ? 'none' : 'any'];
      const ids = titles.flatMap((title) => names.labels(title).map(({ id }) => id));
      return notReferredTo(kind, { rows: kind.labels, column: 'label_id', values: ids });
    },
    author_id: (author_id) => wide(sql`${author} is distinct from ${author_id}`),
    author_username: (username, { names }) => wide(sql`${author} is distinct from ${names.user(username) ?? -1}`),
  };
}

// Forms send an empty text or list for an untouched field.
const isGiven = (value: unknown) =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/**
 * The filters of a list.
 * @param given the parameters as given; unknown ones are ignored
 * @throws ApiError 400 for values that are neither ids nor keywords
 */
export const filtersOf = <F extends object, S extends SeenBy>(table: FilterTable<F, S>, given: F, seen: S): Filter[] =>
  Object.entries(given)
    .filter(([, value]) => isGiven(value))
    .flatMap(([name, value]) => table[name as keyof F]?.(value as NonNullable<F[keyof F]>, seen, given) ?? []);
