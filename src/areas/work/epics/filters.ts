/** What narrows a list of epics: each parameter as a predicate on rows of `epics`. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { isFoundIn } from '../../../http/index.ts';
import { emojiNamed } from '../../conversation/award_emoji/index.ts';
import type { EpicFilters } from './list_parameters.ts';

type Predicate = RawBuilder<SqlBool>;

/** A predicate, and whether few epics meet it: then they are looked for first, and sorted. */
export interface Filter {
  where: Predicate;
  isNarrow: boolean;
}

const narrow = (where: Predicate): Filter => ({ where, isNarrow: true });
const wide = (where: Predicate): Filter => ({ where, isNarrow: false });

/** Words that stand for having none and having any. */
const wordOf = (text: string): 'none' | 'any' | undefined => {
  const word = text.toLowerCase();
  return word === 'none' || word === 'any' ? word : undefined;
};

function labelWord(titles: readonly string[]): 'none' | 'any' | undefined {
  if (titles.length !== 1) return undefined;
  return titles[0]!.toLowerCase() === 'no label' ? 'none' : wordOf(titles[0]!);
}

/** What names stand for, looked up before the list is read. */
interface Names {
  labels: ReadonlyMap<string, readonly number[]>;
  users: ReadonlyMap<string, number>;
}

async function namesIn(db: Database, { labels, author_username, not = {} }: EpicFilters): Promise<Names> {
  const titles = [labels, not.labels].flatMap((list) => (list && labelWord(list) === undefined ? list : []));
  const usernames = [author_username, not.author_username].filter((name) => name !== undefined);
  const found = new Map<string, number[]>();
  const users = new Map<string, number>();
  if (titles.length > 0) {
    const query = db.selectFrom('labels').select(['id', 'title']).where('group_id', 'is not', null);
    const rows = await query.where(sql<boolean>`title = any(${titles}::text[])`).execute();
    for (const { id, title } of rows) found.set(title, [...(found.get(title) ?? []), id]);
  }
  if (usernames.length > 0) {
    const query = db.selectFrom('users').select(['id', sql<string>`lower(username::text)`.as('name')]);
    const rows = await query.where(sql<boolean>`username = any(${usernames}::citext[])`).execute();
    for (const { id, name } of rows) users.set(name, id);
  }
  return { labels: found, users };
}

const labelled: Predicate = sql`exists (select from epic_labels where epic_id = epics.id)`;
const not = (where: Predicate): Predicate => sql`not ${where}`;

function withLabels(titles: readonly string[], { labels }: Names): Filter[] {
  const word = labelWord(titles);
  if (word) return [wide(word === 'any' ? labelled : not(labelled))];
  return titles.map((title) =>
    narrow(sql`epics.id in (select epic_id from epic_labels where label_id = any(${labels.get(title) ?? []}::bigint[]))`),
  );
}

function withoutLabels(titles: readonly string[], { labels }: Names): Filter[] {
  const word = labelWord(titles);
  if (word) return [wide(word === 'any' ? not(labelled) : labelled)];
  const ids = titles.flatMap((title) => labels.get(title) ?? []);
  return [wide(sql`not exists (select from epic_labels where epic_id = epics.id and label_id = any(${ids}::bigint[]))`)];
}

/** By the reactions of the caller; there are none of somebody who is not signed in, and nothing is asked then. */
function reactedTo(name: string, caller: MaybeCaller): Filter | undefined {
  if (!caller) return undefined;
  const word = wordOf(name);
  const own = sql`select epic_id from award_emoji where user_id = ${caller.id} and epic_id is not null`;
  if (word === 'none') return wide(sql`not exists (${own} and epic_id = epics.id)`);
  return narrow(sql`epics.id in (${own} ${word === 'any' ? sql`` : sql`and name = ${emojiNamed(name) ?? name}`})`);
}

/** No user has an id beyond what a number of PostgreSQL holds. */
const ofAuthor = (id: number): Predicate => sql`epics.author_id = ${id}`;

/** The filters of one member of the input each; what was left out has none. */
type Table = {
  [Name in keyof EpicFilters]?: (
    value: NonNullable<EpicFilters[Name]>,
    names: Names,
    caller: MaybeCaller,
  ) => Filter | Filter[] | undefined;
};

const table: Table = {
  labels: withLabels,
  author_id: (id) => narrow(ofAuthor(id)),
  author_username: (name, { users }) => narrow(ofAuthor(users.get(name.toLowerCase()) ?? -1)),
  search: (text) => {
    const where = isFoundIn(text, ['epics.title', 'epics.description']);
    return where && narrow(where);
  },
  state: (state) => (state === 'all' ? undefined : wide(sql`epics.state = ${state}`)),
  created_after: (at) => wide(sql`epics.created_at >= ${at}`),
  // What is shown of a moment are its milliseconds: whoever asks for epics up to that of one must find it.
  created_before: (at) => wide(sql`epics.created_at < ${at}::timestamptz + interval '1 millisecond'`),
  updated_after: (at) => wide(sql`epics.updated_at >= ${at}`),
  updated_before: (at) => wide(sql`epics.updated_at < ${at}::timestamptz + interval '1 millisecond'`),
  my_reaction_emoji: (name, _names, caller) => reactedTo(name, caller),
  confidential: (is) => wide(is ? sql`epics.confidential` : sql`not epics.confidential`),
  not: ({ labels = [], author_id, author_username }, names) => [
    ...(labels.length > 0 ? withoutLabels(labels, names) : []),
    ...(author_id === undefined ? [] : [wide(sql`epics.author_id is distinct from ${author_id}`)]),
    ...(author_username === undefined
      ? []
      : [wide(sql`epics.author_id is distinct from ${names.users.get(author_username.toLowerCase()) ?? -1}`)]),
  ],
};

// An empty text or list is sent by forms that leave a field alone.
const isGiven = (value: unknown) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

/**
 * What narrows the list, with what its names stand for looked up.
 * @param filters as they were given; other parameters of lists are passed over
 * @throws ApiError 400 for too many terms to search for
 */
export async function filtersFor(db: Database, caller: MaybeCaller, filters: EpicFilters): Promise<Filter[]> {
  const names = await namesIn(db, filters);
  return Object.entries(filters)
    .filter(([, value]) => isGiven(value))
    .flatMap(([name, value]) => table[name as keyof EpicFilters]?.(value as never, names, caller) ?? []);
}
