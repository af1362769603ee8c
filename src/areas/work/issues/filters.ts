/** The filters of issue lists: each parameter as a predicate on rows of `issues` (docs/reference/issues.md). */
import { sql } from 'kysely';
import { issueKind, isVisibleEpic } from '../../../access/index.ts';
import { dayOf } from '../../../cron/index.ts';
import { badParams, type Plan, reaches } from '../../../http/index.ts';
import {
  among,
  type Filter,
  type FilterTable,
  filtersOf,
  idOr,
  type NamesAsked,
  narrow,
  not,
  type Predicate,
  reactedTo,
  type SeenBy,
  sharedExclusions,
  sharedFilters,
  titlesIn,
  wide,
  wordOf,
} from '../issuables/index.ts';
import { type DueDate, daysNamed } from './due_date_rules.ts';
import type { Excluded, IssueFilters } from './list_parameters.ts';

const noRow: Predicate = sql`false`;

type Scope = NonNullable<IssueFilters['scope']>;

/** The context of the predicates, besides the parameters. */
export interface Seen extends SeenBy {
  plan: Plan;
  /** The time of the request, which decides what today is. */
  now: Date;
  project_id?: number | undefined;
}

/** The names in filters that need a lookup. */
export function namesIn(filters: IssueFilters): NamesAsked {
  const both = [filters, filters.not ?? {}];
  return {
    labels: both.flatMap(({ labels }) => titlesIn(labels)),
    milestones: both.flatMap(({ milestone }) => (milestone && !wordOf(milestone) ? [milestone] : [])),
    usernames: both.flatMap(({ author_username, assignee_username }) => [
      ...(author_username ? [author_username] : []),
      ...(assignee_username ?? []),
    ]),
  };
}

const assigned: Predicate = sql`exists (select from issue_assignees where issue_id = issues.id)`;
const assignedTo = (user_id: number) => sql`select issue_id from issue_assignees where user_id = ${user_id}`;
const assignedToNone = (users: readonly number[]): Predicate =>
  sql`not exists (select from issue_assignees where issue_id = issues.id and user_id = any(${users}::bigint[]))`;

const isNull = (column: string, word: 'none' | 'any'): Predicate =>
  sql`${sql.ref(`issues.${column}`)} ${word === 'none' ? sql`is null` : sql`is not null`}`;
const opposite = { none: 'any', any: 'none' } as const;

/** A predicate on rows of `milestones`: the next one of its project or group to end after today. */
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
 * The names of the assignees; below Premium only one is allowed.
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

const positive: FilterTable<IssueFilters, Seen> = {
  ...sharedFilters(issueKind),
  milestone: milestoneFilter,
  milestone_id: milestoneIdFilter,
  iids: (iids) => narrow(sql`issues.iid = any(${iids}::bigint[])`),
  assignee_id: (text) => {
    const { word, id } = assigneeFilter('assignee_id', text);
    if (word) return wide(word === 'any' ? assigned : not(assigned));
    return among(issueKind, assignedTo(id));
  },
  assignee_username: (usernames, seen) =>
    assigneesNamed('assignee_username', usernames, seen).map((id) =>
      id === undefined ? narrow(noRow) : among(issueKind, assignedTo(id)),
    ),
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
  my_reaction_emoji: (name, { caller }) => reactedTo(issueKind, caller, name),
  due_date: (name, { now }) => dueDateFilter(name as DueDate, now),
  issue_type: (type) => wide(sql`issues.issue_type = ${type}`),
  closed_by_id: (id) => narrow(sql`issues.closed_by_id = ${id}`),
  scope: scopeFilter,
  epic_id: (text, { caller }) => {
    const value = idOr('epic_id', text, ['none', 'any']);
    if (typeof value === 'number')
      return among(
        issueKind,
        sql`
        select issue_id from epic_issues join epics on epics.id = epic_id join namespaces on namespaces.id = epics.group_id
         where epic_id = ${value} and ${isVisibleEpic(caller)}`,
      );
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
  if (!caller) return narrow(noRow);
  const isAuthor = scope === 'created_by_me' || scope === 'created-by-me';
  return isAuthor ? narrow(sql`issues.author_id = ${caller.id}`) : among(issueKind, assignedTo(caller.id));
}

const negative: FilterTable<Excluded, Seen> = {
  ...sharedExclusions(issueKind),
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

/**
 * The filters of a list.
 * @param filters as given
 * @throws ApiError 400 for values that are neither ids nor keywords
 */
export const issueFilters = (filters: IssueFilters, seen: Seen): Filter[] => [
  ...filtersOf(positive, filters, seen),
  ...filtersOf(negative, filters.not ?? {}, seen),
];
