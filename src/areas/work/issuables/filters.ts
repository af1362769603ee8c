/** The filters that all lists share: each parameter as a predicate on rows of the kind's table, also negated. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind, MaybeCaller } from '../../../access/index.ts';
import { badParams, idIn } from '../../../http/index.ts';
import { isFoundIn } from '../../../texts/index.ts';
import { emojiNamed } from '../../conversation/award_emoji/index.ts';
import type { Names } from './name_queries.ts';

export type Predicate = RawBuilder<SqlBool>;

/** A predicate, and what is known about how many rows match it. */
export interface Filter {
  where: Predicate;
  /** The same, looked up row by row, for lists that are read in order: PostgreSQL would sometimes collect all rows that match instead, for each project again. */
  test?: Predicate;
  /** Whether they may be few: then they are looked up first and sorted. Otherwise the list is read in order until the page is full. */
  isNarrow: boolean;
  /** A separate statement that selects the matching ids, which shows cheaply whether they are few. */
  ids?: RawBuilder<unknown>;
  /** Whether the lookup costs the same for few and many. */
  isSearch?: true;
}

export const narrow = (where: Predicate): Filter => ({ where, isNarrow: true });
export const wide = (where: Predicate): Filter => ({ where, isNarrow: false });
/** The rows with these ids. */
export const among = ({ table }: IssuableKind, ids: RawBuilder<unknown>): Filter => ({
  where: sql`${sql.ref(`${table}.id`)} in (${ids})`,
  isNarrow: true,
  ids,
});

/** Rows of another table that refer to rows of a kind, those with one of some values. */
export interface References {
  /** Its name, and the column with the values. */
  rows: string;
  column: string;
  values: readonly number[];
}

/**
 * Reads the few references of one row and looks for the values among them. PostgreSQL would look up each value, or collect all rows with any of them: `offset 0` keeps
 * it from making a join of this, and the addition from using an index of the values.
 */
function refersToOne(kind: IssuableKind, { rows, column, values }: References): Predicate {
  const isWanted = sql`${sql.ref(column)} + 0 = any(${values}::bigint[])`;
  return sql`exists (select from ${sql.table(rows)} where ${sql.ref(kind.column)} = ${sql.ref(`${kind.table}.id`)} and ${isWanted} offset 0)`;
}

/** The rows that one of the references refers to. */
export function referredTo(kind: IssuableKind, references: References): Filter {
  const { rows, column, values } = references;
  const ids = sql`select ${sql.ref(kind.column)} from ${sql.table(rows)} where ${sql.ref(column)} = any(${values}::bigint[])`;
  return { ...among(kind, ids), test: refersToOne(kind, references) };
}

/** The rows that none of the references refers to. */
export function notReferredTo(kind: IssuableKind, references: References): Filter {
  const { rows, column, values } = references;
  const isReferredTo: Predicate = sql`exists (select from ${sql.table(rows)} where ${sql.ref(kind.column)} = ${sql.ref(`${kind.table}.id`)} and ${sql.ref(column)} = any(${values}::bigint[]))`;
  return { ...wide(not(isReferredTo)), test: not(refersToOne(kind, references)) };
}

export const not = (where: Predicate): Predicate => sql`not ${where}`;

/** The keywords for none and any; some parameters ignore their case. */
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
  throw badParams(`${name} should be an integer, ${words.slice(0, -1).join(', ')}, or ${words.at(-1)}, however got ${text}`);
}

/** `None` and `Any` are keywords when they are the only value; `No Label` is the old name of `None`. */
function labelWord(titles: readonly string[]): 'none' | 'any' | undefined {
  const [title] = titles;
  if (titles.length !== 1) return undefined;
  return title!.toLowerCase() === 'no label' ? 'none' : wordOf(title!);
}

/** The titles of labels to look up. */
export const titlesIn = (titles: readonly string[] | undefined): readonly string[] =>
  titles && labelWord(titles) === undefined ? titles : [];

/** The context of the predicates, besides the parameters. */
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

/** Reads the filters from a member of `filters`. */
export type FilterTable<F, S extends SeenBy> = {
  [Name in keyof F]?: (value: NonNullable<F[Name]>, seen: S, all: F) => Filter | Filter[] | undefined;
};

const searchable = ['title', 'description'] as const;

/** The columns that `in` names. Unknown ones are ignored; without a known one `in` counts as omitted. */
function columnsIn(text: string | undefined): readonly (typeof searchable)[number][] {
  const named = searchable.filter((column) => text?.split(',').some((name) => name.trim() === column));
  return named.length > 0 ? named : searchable;
}

/** The rows with labels, and those without. What has none has no label priority either: in an order by that, the index knows that no other row matches. */
function byLabelled({ table, labels, column }: IssuableKind): Record<'none' | 'any', Filter> {
  const rows = sql`select from ${sql.table(labels)} where ${sql.ref(column)} = ${sql.ref(`${table}.id`)}`;
  const [labelled, looked]: Predicate[] = [sql`exists (${rows})`, sql`exists (${rows} offset 0)`];
  const without = (isLabelled: Predicate): Predicate =>
    table === 'epics' ? not(isLabelled) : sql`(${sql.ref(`${table}.label_priority`)} is null and not ${isLabelled})`;
  return {
    any: { ...wide(labelled!), test: looked! },
    none: { ...wide(without(labelled!)), test: without(looked!) },
  };
}

/** The filters that lists of all kinds have. */
export function sharedFilters(kind: IssuableKind): FilterTable<SharedFilters, SeenBy> {
  const column = (name: string) => sql.ref(`${kind.table}.${name}`);
  const labelled = byLabelled(kind);
  return {
    labels: (titles, { names }) => {
      const word = labelWord(titles);
      if (word) return [labelled[word]];
      return titles.map((title) => referredTo(kind, { rows: kind.labels, column: 'label_id', values: names.labels(title) }));
    },
    author_id: (author_id) => narrow(sql`${column('author_id')} = ${author_id}`),
    author_username: (username, { names }) => narrow(sql`${column('author_id')} = ${names.user(username) ?? -1}`),
    confidential: (is) => wide(is ? sql`${column('confidential')}` : sql`not ${column('confidential')}`),
    created_after: (at) => wide(sql`${column('created_at')} >= ${at}`),
    // Replies show times with milliseconds, and a list up to the time of a row must include that row.
    created_before: (at) => wide(sql`${column('created_at')} < ${at}::timestamptz + interval '1 millisecond'`),
    updated_after: (at) => wide(sql`${column('updated_at')} >= ${at}`),
    updated_before: (at) => wide(sql`${column('updated_at')} < ${at}::timestamptz + interval '1 millisecond'`),
    search: (text, _seen, all) => {
      const where = isFoundIn(
        text,
        columnsIn(all.in).map((name) => `${kind.table}.${name}`),
      );
      return where && { where, isNarrow: true, isSearch: true };
    },
    state: (state) => (state === 'all' ? undefined : wide(sql`${column('state')} = ${state}`)),
  };
}

/**
 * By the caller's own reactions. Anonymous callers have none, so nothing is queried.
 * @param name of an emoji, or a keyword
 */
export function reactedTo(kind: IssuableKind, caller: MaybeCaller, name: string): Filter | undefined {
  if (!caller) return undefined;
  const [word, of] = [wordOf(name), sql.ref(kind.column)];
  const own = sql`select ${of} from award_emoji where user_id = ${caller.id} and ${of} is not null`;
  if (word === 'none') return wide(sql`not exists (${own} and ${of} = ${sql.ref(`${kind.table}.id`)})`);
  return among(kind, word === 'any' ? own : sql`${own} and name = ${emojiNamed(name) ?? name}`);
}

/** The same in `not`. */
export function sharedExclusions(kind: IssuableKind): FilterTable<Excludable, SeenBy> {
  const author = sql.ref(`${kind.table}.author_id`);
  const labelled = byLabelled(kind);
  return {
    labels: (titles, { names }) => {
      const word = labelWord(titles);
      if (word) return labelled[word === 'any' ? 'none' : 'any'];
      const ids = titles.flatMap((title) => names.labels(title));
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
