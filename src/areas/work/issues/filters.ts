/** What narrows a list of issues: each parameter as a predicate on rows of `issues` (issues.md section 3). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isVisibleEpic, type MaybeCaller } from '../../../access/index.ts';
import { badParams, type Plan, reaches } from '../../../http/index.ts';
import type { Names, NamesAsked } from '../issuables/name_queries.ts';
import { type DueDate, dayOf, daysNamed } from './due_date_rules.ts';
import type { Excluded, IssueFilters } from './list_parameters.ts';
import { isFound } from './search.ts';

export type Predicate = RawBuilder<SqlBool>;

/** A predicate, and what is known of how many issues meet it. */
export interface Filter {
  where: Predicate;
  /** Whether they may be few: then they are looked for first, and sorted. Otherwise the list is read in its order until the page is full. */
  isNarrow: boolean;
  /** The ids of those that meet it, as a statement of their own, which tells at little cost whether they are few. */
  ids?: RawBuilder<unknown>;
  /** Whether looking for them costs the same for few and for many. */
  isSearch?: true;
}

const narrow = (where: Predicate): Filter => ({ where, isNarrow: true });
const wide = (where: Predicate): Filter => ({ where, isNarrow: false });
/** The issues of these ids. */
const among = (ids: RawBuilder<unknown>): Filter => ({ where: sql`issues.id in (${ids})`, isNarrow: true, ids });
const nobody: Predicate = sql`false`;

/** Words that stand for having none and having any; of some parameters their case does not count. */
const wordOf = (text: string): 'none' | 'any' | undefined => {
  const word = text.toLowerCase();
  return word === 'none' || word === 'any' ? word : undefined;
};

/** No row has an id beyond what a number holds exactly. */
const idOf = (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : -1);

/**
 * Reads an id or a word.
 * @param words what else it may be, in lower case
 * @throws ApiError 400
 */
function idOr<W extends string>(name: string, text: string, words: readonly W[]): number | W {
  const trimmed = text.trim();
  const word = words.find((known) => known === trimmed.toLowerCase());
  if (word !== undefined) return word;
  if (/^[+-]?\d+$/.test(trimmed)) return idOf(trimmed);
  throw badParams(`${name} should be an integer, ${words.slice(0, -1).join(', ')}, or ${words.at(-1)}, however got ${text}`);
}

type Scope = NonNullable<IssueFilters['scope']>;

/** What the predicates are made of, besides the parameters. */
export interface Seen {
  caller: MaybeCaller;
  names: Names;
  plan: Plan;
  /** When the list is asked for: it decides what today is. */
  now: Date;
  project_id?: number | undefined;
}

const withoutWords = (titles: readonly string[] | undefined) => (titles && labelWord(titles) === undefined ? titles : []);

/** `None` and `Any` are words where they stand alone; `No Label` is what `None` was called. */
function labelWord(titles: readonly string[]): 'none' | 'any' | undefined {
  const [title] = titles;
  if (titles.length !== 1) return undefined;
  return title!.toLowerCase() === 'no label' ? 'none' : wordOf(title!);
}

/** The names in filters, to be looked up. */
export function namesIn(filters: IssueFilters): NamesAsked {
  const both = [filters, filters.not ?? {}];
  return {
    labels: both.flatMap(({ labels }) => withoutWords(labels)),
    milestones: both.flatMap(({ milestone }) => (milestone && !wordOf(milestone) ? [milestone] : [])),
    usernames: both.flatMap(({ author_username, assignee_username }) => [
      ...(author_username ? [author_username] : []),
      ...(assignee_username ?? []),
    ]),
  };
}

const labelled: Predicate = sql`exists (select from issue_labels where issue_id = issues.id)`;
const bearing = (labels: readonly number[]) => sql`select issue_id from issue_labels where label_id = any(${labels}::bigint[])`;
const bearsNone = (labels: readonly number[]): Predicate =>
  sql`not exists (select from issue_labels where issue_id = issues.id and label_id = any(${labels}::bigint[]))`;

const assigned: Predicate = sql`exists (select from issue_assignees where issue_id = issues.id)`;
const assignedTo = (user_id: number) => sql`select issue_id from issue_assignees where user_id = ${user_id}`;
const assignedToNone = (users: readonly number[]): Predicate =>
  sql`not exists (select from issue_assignees where issue_id = issues.id and user_id = any(${users}::bigint[]))`;

const not = (where: Predicate): Predicate => sql`not ${where}`;
const isNull = (column: string, word: 'none' | 'any'): Predicate =>
  sql`${sql.ref(`issues.${column}`)} ${word === 'none' ? sql`is null` : sql`is not null`}`;
const opposite = { none: 'any', any: 'none' } as const;

function labelFilters(titles: readonly string[], { names }: Seen): Filter[] {
  const word = labelWord(titles);
  if (word) return [wide(word === 'any' ? labelled : not(labelled))];
  return titles.map((title) => among(bearing(names.labels(title))));
}

function withoutLabels(titles: readonly string[], { names }: Seen): Filter[] {
  const word = labelWord(titles);
  if (word) return [wide(word === 'any' ? not(labelled) : labelled)];
  return [wide(bearsNone(titles.flatMap((title) => names.labels(title))))];
}

/** A predicate on rows of `milestones`: the nearest of its project or group that ends after today. */
const isUpcoming = (today: string): Predicate => {
  const nearest = (owner: string) => sql`
    (select next.id from milestones next where next.${sql.raw(owner)} = milestones.${sql.raw(owner)} and next.state = 'active' and next.due_date > ${today}
      order by next.due_date, next.id limit 1)`;
  return sql`milestones.id = case when milestones.project_id is null then ${nearest('group_id')} else ${nearest('project_id')} end`;
};

const milestonesThat = (word: 'Upcoming' | 'Started', { now, project_id }: Seen) => {
  const today = dayOf(now);
  const test = word === 'Started' ? sql`milestones.state = 'active' and milestones.start_date <= ${today}` : isUpcoming(today);
  const near =
    project_id === undefined ? sql`true` : sql`(milestones.project_id = ${project_id} or milestones.group_id is not null)`;
  return sql`select milestones.id from milestones where ${near} and ${test}`;
};

function milestoneFilter(title: string, { names }: Seen): Filter {
  const word = wordOf(title);
  if (word) return wide(isNull('milestone_id', word));
  return narrow(sql`issues.milestone_id = any(${names.milestones(title)}::bigint[])`);
}

function milestoneIdFilter(word: NonNullable<IssueFilters['milestone_id']>, seen: Seen): Filter {
  if (word === 'None' || word === 'Any') return wide(isNull('milestone_id', word === 'None' ? 'none' : 'any'));
  return narrow(sql`issues.milestone_id in (${milestonesThat(word, seen)})`);
}

function assigneeFilter(name: string, text: string): { word?: 'none' | 'any'; id: number } {
  const value = idOr(name, text, ['none', 'any']);
  if (value === 0) return { word: 'none', id: 0 };
  return typeof value === 'number' ? { id: value } : { word: value, id: 0 };
}

/**
 * The names of several assignees, of whom below Premium there is one.
 * @throws ApiError 400
 */
function assigneesNamed(name: string, usernames: readonly string[], { names, plan }: Seen): (number | undefined)[] {
  if (usernames.length > 1 && !reaches(plan, 'premium'))
    throw badParams(`${name} allows one value, but found ${usernames.length}: ${usernames.join(', ')}`);
  return usernames.map((username) => names.user(username));
}

const currentIterations = ({ now }: Seen) => {
  const today = dayOf(now);
  return sql`select id from iterations where start_date <= ${today} and due_date >= ${today}`;
};

/** A member of `filters` as its filters. */
type Table<F> = { [Name in keyof F]?: (value: NonNullable<F[Name]>, seen: Seen, all: F) => Filter | Filter[] | undefined };

const positive: Table<IssueFilters> = {
  labels: labelFilters,
  milestone: milestoneFilter,
  milestone_id: milestoneIdFilter,
  iids: (iids) => narrow(sql`issues.iid = any(${iids}::bigint[])`),
  author_id: (id) => narrow(sql`issues.author_id = ${id}`),
  author_username: (username, { names }) => narrow(sql`issues.author_id = ${names.user(username) ?? -1}`),
  assignee_id: (text) => {
    const { word, id } = assigneeFilter('assignee_id', text);
    if (word) return wide(word === 'any' ? assigned : not(assigned));
    return among(assignedTo(id));
  },
  assignee_username: (usernames, seen) =>
    assigneesNamed('assignee_username', usernames, seen).map((id) => (id === undefined ? narrow(nobody) : among(assignedTo(id)))),
  iteration_id: (text, seen) => {
    const value = idOr('iteration_id', text, ['none', 'any', 'current']);
    if (value === 'current') return narrow(sql`issues.iteration_id in (${currentIterations(seen)})`);
    return typeof value === 'number' ? narrow(sql`issues.iteration_id = ${value}`) : wide(isNull('iteration_id', value));
  },
  iteration_title: (title) => narrow(sql`issues.iteration_id in (select id from iterations where title = ${title})`),
  weight: (text) => {
    const value = idOr('weight', text, ['none', 'any']);
    return typeof value === 'number' ? narrow(sql`issues.weight = ${value}::bigint`) : wide(isNull('weight', value));
  },
  my_reaction_emoji: (name, { caller }) => {
    if (!caller) return undefined;
    const word = wordOf(name);
    const own = sql`select issue_id from award_emoji where user_id = ${caller.id} and issue_id is not null`;
    if (word === 'none') return wide(sql`not exists (${own} and issue_id = issues.id)`);
    return among(word === 'any' ? own : sql`${own} and name = ${name}`);
  },
  confidential: (is) => wide(is ? sql`issues.confidential` : sql`not issues.confidential`),
  created_after: (at) => wide(sql`issues.created_at >= ${at}`),
  // What is shown of a moment are its milliseconds: whoever asks for issues up to that of one must find it.
  created_before: (at) => wide(sql`issues.created_at < ${at}::timestamptz + interval '1 millisecond'`),
  updated_after: (at) => wide(sql`issues.updated_at >= ${at}`),
  updated_before: (at) => wide(sql`issues.updated_at < ${at}::timestamptz + interval '1 millisecond'`),
  due_date: (name, { now }) => dueDateFilter(name as DueDate, now),
  search: (text, _seen, all) => {
    const where = isFound(text, all.in);
    return where && { where, isNarrow: true, isSearch: true };
  },
  issue_type: (type) => wide(sql`issues.issue_type = ${type}`),
  closed_by_id: (id) => narrow(sql`issues.closed_by_id = ${id}`),
  state: (state) => (state === 'all' ? undefined : wide(sql`issues.state = ${state}`)),
  scope: scopeFilter,
  epic_id: (text, { caller }) => {
    const value = idOr('epic_id', text, ['none', 'any']);
    if (typeof value === 'number')
      return among(sql`
        select issue_id from epic_issues join epics on epics.id = epic_id join namespaces on namespaces.id = epics.group_id
         where epic_id = ${value} and ${isVisibleEpic(caller)}`);
    const inEpic: Predicate = sql`exists (select from epic_issues where issue_id = issues.id)`;
    return wide(value === 'any' ? inEpic : not(inEpic));
  },
  health_status: (status) => {
    const word = wordOf(status);
    return wide(word ? isNull('health_status', word) : sql`issues.health_status = ${status}`);
  },
};

function dueDateFilter(name: DueDate, now: Date): Filter {
  if (name === '0' || name === 'any') return wide(isNull('due_date', name === '0' ? 'none' : 'any'));
  const { from, until } = daysNamed(name, now);
  return narrow(sql`issues.due_date between ${from ?? '-infinity'} and ${until ?? 'infinity'}`);
}

function scopeFilter(scope: Scope, { caller }: Seen): Filter | undefined {
  if (scope === 'all') return undefined;
  if (!caller) return narrow(nobody);
  const isAuthor = scope === 'created_by_me' || scope === 'created-by-me';
  return isAuthor ? narrow(sql`issues.author_id = ${caller.id}`) : among(assignedTo(caller.id));
}

const negative: Table<Excluded> = {
  labels: withoutLabels,
  milestone: (title, { names }) => {
    const word = wordOf(title);
    if (word) return wide(isNull('milestone_id', opposite[word]));
    return wide(sql`(issues.milestone_id is null or issues.milestone_id <> all(${names.milestones(title)}::bigint[]))`);
  },
  milestone_id: (word, seen) => {
    if (word === 'None' || word === 'Any') return wide(isNull('milestone_id', word === 'None' ? 'any' : 'none'));
    return wide(sql`(issues.milestone_id is not null and not exists (
      select from (${milestonesThat(word, { ...seen, project_id: undefined })}) such where such.id = issues.milestone_id))`);
  },
  iids: (iids) => wide(sql`issues.iid <> all(${iids}::bigint[])`),
  author_id: (id) => wide(sql`issues.author_id is distinct from ${id}`),
  author_username: (username, { names }) => wide(sql`issues.author_id is distinct from ${names.user(username) ?? -1}`),
  assignee_id: (text) => {
    const { word, id } = assigneeFilter('not[assignee_id]', text);
    if (word) return wide(word === 'any' ? not(assigned) : assigned);
    return wide(assignedToNone([id]));
  },
  assignee_username: (usernames, seen) => {
    const users = assigneesNamed('not[assignee_username]', usernames, seen).filter((id) => id !== undefined);
    return users.length === 0 ? undefined : wide(assignedToNone(users));
  },
  iteration_id: (text, seen) => {
    const value = idOr('not[iteration_id]', text, ['none', 'any', 'current']);
    if (value === 'current') return wide(sql`(issues.iteration_id in (${currentIterations(seen)})) is not true`);
    return wide(
      typeof value === 'number' ? sql`issues.iteration_id is distinct from ${value}` : isNull('iteration_id', opposite[value]),
    );
  },
  iteration_title: (title) => wide(sql`(issues.iteration_id in (select id from iterations where title = ${title})) is not true`),
  weight: (text) => {
    const value = idOr('not[weight]', text, ['none', 'any']);
    return wide(
      typeof value === 'number' ? sql`issues.weight is distinct from ${value}::bigint` : isNull('weight', opposite[value]),
    );
  },
};

function filtersOf<F extends object>(table: Table<F>, given: F, seen: Seen): Filter[] {
  // An empty text or list is sent by forms that leave a field alone.
  const isGiven = (value: unknown) =>
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.entries(given)
    .filter(([, value]) => isGiven(value))
    .flatMap(([name, value]) => table[name as keyof F]?.(value as NonNullable<F[keyof F]>, seen, given) ?? []);
}

/**
 * What narrows the list.
 * @param filters as they were given
 * @throws ApiError 400 for values that are neither ids nor words
 */
export const issueFilters = (filters: IssueFilters, seen: Seen): Filter[] => [
  ...filtersOf(positive, filters, seen),
  ...filtersOf(negative, filters.not ?? {}, seen),
];
