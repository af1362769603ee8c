/** Filters by the people of a noun, by its milestone, and by the releases of the milestone, also negated. */
import { sql } from 'kysely';
import { type IssuableKind, isDownloadable, isUsable, type MaybeCaller } from '../../../access/index.ts';
import { type Filter, narrow, type Predicate, varying, wide } from '../../../lists/index.ts';
import {
  among,
  byReferences,
  type FilterTable,
  idOr,
  not,
  notReferredTo,
  referredTo,
  type SeenBy,
  titlesIn,
  valued,
  wordOf,
} from './filters.ts';
import type { NamedMilestone, NamesAsked } from './name_queries.ts';

const noRow: Predicate = sql`false`;

/** Filters by the people in a join table, which has a column for the person and one for the row of the kind. */
export function peopleIn(kind: IssuableKind, table: string) {
  const { any, none } = byReferences(kind, table);
  const without = (user_id: number): Filter =>
    notReferredTo(kind, { rows: table, column: 'user_id', values: [user_id] });
  const withUser = (user_id: number): Filter => referredTo(kind, { rows: table, column: 'user_id', values: [user_id] });
  const read = (name: string, text: string): number | 'none' | 'any' => idOr(name, text, ['none', 'any']) || 'none';
  return {
    withUser,
    /** By an id or a keyword; 0 means nobody. */
    byId(name: string, text: string): Filter {
      const value = read(name, text);
      if (value === 'any') return any;
      return value === 'none' ? none : withUser(value);
    },
    /** By a user whose name was looked up; an unknown name matches nothing. */
    byUser: (user_id: number | undefined): Filter => (user_id === undefined ? narrow(noRow) : withUser(user_id)),
    exceptId(name: string, text: string): Filter {
      const value = read(name, text);
      if (value === 'any') return none;
      return value === 'none' ? any : without(value);
    },
    exceptUsers: (ids: readonly (number | undefined)[]): Filter[] =>
      ids.flatMap((user_id) => (user_id === undefined ? [] : without(user_id))),
  };
}

type People = ReturnType<typeof peopleIn>;

/** The caller's own items; anonymous callers have none. */
export function scopeFilter(
  kind: IssuableKind,
  scope: string,
  { caller }: SeenBy,
  { assignees, reviewers = assignees }: { assignees: People; reviewers?: People },
): Filter | undefined {
  if (scope === 'all') return undefined;
  if (!caller) return narrow(noRow);
  const whose = scope.replaceAll('-', '_');
  if (whose === 'created_by_me') return narrow(sql`${sql.ref(`${kind.table}.author_id`)} = ${caller.id}`);
  return (whose === 'assigned_to_me' ? assignees : reviewers).withUser(caller.id);
}

/** The opposite keyword, for `not`. */
export const opposite = { none: 'any', any: 'none' } as const;

const hasNoDueDate = ({ table }: IssuableKind): Pick<Filter, 'bound'> => ({
  bound: { column: 'milestone_due_date', where: sql`${sql.ref(`${table}.milestone_due_date`)} is null` },
});

/** The rows without a milestone (and thus without its due date), and the rows with any. */
export function byMilestone(kind: IssuableKind): Record<'none' | 'any', Filter> {
  return {
    any: valued(kind, 'milestone_id', 'any'),
    none: { ...valued(kind, 'milestone_id', 'none'), ...hasNoDueDate(kind) },
  };
}

const idsOf = (milestones: readonly NamedMilestone[]) => milestones.map(({ id }) => id);

/** The rows with one of some milestones, and thus with its due date. */
function inMilestones(kind: IssuableKind, milestones: readonly NamedMilestone[]): Filter {
  const { table } = kind;
  const where: Predicate = sql`${sql.ref(`${table}.milestone_id`)} = any(${idsOf(milestones)}::bigint[])`;
  const filter: Filter = { ...narrow(where), ids: sql`select id from ${sql.table(table)} where ${where}` };
  const dates = milestones.flatMap(({ due_date }) => due_date ?? []).toSorted();
  const column = 'milestone_due_date';
  if (dates.length === 0) return { ...filter, ...hasNoDueDate(kind) };
  if (dates.length < milestones.length) return filter;
  return {
    ...filter,
    bound: { column, where: sql`${sql.ref(`${table}.${column}`)} between ${dates[0]} and ${dates.at(-1)}` },
  };
}

/**
 * The rows whose milestone belongs to a release of their project that the caller may read together with its tag, or to none.
 * @param asked a tag, or `None` or `Any`
 */
function byRelease(kind: IssuableKind, caller: MaybeCaller, asked: string): Filter {
  const { table } = kind;
  const word = wordOf(asked);
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const joined = sql`releases join release_milestones on release_milestones.release_id = releases.id
      join projects on projects.id = releases.project_id join namespaces on namespaces.id = projects.namespace_id`;
  const isRead = sql`${isUsable(caller, 'releases')} and ${isDownloadable(caller)}`;
  const isIts = sql`releases.project_id = ${column('project_id')} and release_milestones.milestone_id = ${column('milestone_id')}`;
  const isReleased = (where: Predicate): Predicate =>
    sql`exists (select from ${joined} where ${isIts} and ${where} and ${isRead} offset 0)`;
  if (word) return varying(word === 'any' ? isReleased(sql`true`) : not(isReleased(sql`true`)));
  const hasTag: Predicate = sql`releases.tag = ${asked}`;
  const ids = sql`select ${column('id')} from ${joined} join ${sql.table(table)} on ${isIts} where ${hasTag} and ${isRead}`;
  return { ...among(kind, ids), test: isReleased(hasTag) };
}

/** The filters by milestone title and by release tag, each also `None` or `Any`, and their versions for `not`. */
export function milestoneFilters(kind: IssuableKind): {
  positive: FilterTable<{ milestone?: string; release_tag?: string }, SeenBy>;
  negative: FilterTable<{ milestone?: string }, SeenBy>;
} {
  const column = sql.ref(`${kind.table}.milestone_id`);
  return {
    positive: {
      milestone: (title, { names }) => {
        const word = wordOf(title);
        return word ? byMilestone(kind)[word] : inMilestones(kind, names.milestones(title));
      },
      release_tag: (tag, { caller }) => byRelease(kind, caller, tag),
    },
    negative: {
      milestone: (title, { names }) => {
        const word = wordOf(title);
        if (word) return byMilestone(kind)[opposite[word]];
        return wide(sql`(${column} is null or ${column} <> all(${idsOf(names.milestones(title))}::bigint[]))`);
      },
    },
  };
}

interface Named {
  labels?: string[];
  milestone?: string;
}

/**
 * The names in filters and their `not` that need a lookup.
 * @param usernames returns the user names to look up
 */
export function namesAsked<F extends Named & { not?: Named }>(
  filters: F,
  usernames: (given: F | NonNullable<F['not']>) => readonly (string | undefined)[],
): NamesAsked {
  const both: (F | NonNullable<F['not']>)[] = [filters, ...(filters.not ? [filters.not as NonNullable<F['not']>] : [])];
  return {
    labels: both.flatMap(({ labels }) => titlesIn(labels)),
    milestones: both.flatMap(({ milestone }) => (milestone && !wordOf(milestone) ? [milestone] : [])),
    usernames: both.flatMap(usernames).filter((name) => name !== undefined),
  };
}
