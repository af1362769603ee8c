/** The filters of issue lists: each parameter as a predicate on rows of `issues` (docs/reference/issues.md). */
import { sql } from 'kysely';
import { issueKind, isVisibleEpic } from '../../../../access/index.ts';
import { dayOf } from '../../../../cron/index.ts';
import { badParam, reaches } from '../../../../http/index.ts';
import { type Filter, narrow, type Predicate, varying, wide } from '../../../../lists/index.ts';
import {
  among,
  type FilterTable,
  filtersOf,
  idOr,
  not,
  reactedTo,
  sharedExclusions,
  sharedFilters,
  valued,
  wordOf,
} from '../../issuables/filters.ts';
import type { NamesAsked } from '../../issuables/name_queries.ts';
import {
  byMilestone,
  milestoneFilters,
  namesAsked,
  opposite,
  peopleIn,
  scopeFilter,
} from '../../issuables/people_filters.ts';
import type { SeenInList } from '../../issuables/selection_queries.ts';
import { type DueDate, daysNamed } from '../due_date_rules.ts';
import type { Excluded, IssueFilters } from './parameters.ts';

/** The names in filters that need a lookup. */
export const namesIn = (filters: IssueFilters): NamesAsked =>
  namesAsked(filters, ({ author_username, assignee_username = [] }) => [author_username, ...assignee_username]);

const assignees = peopleIn(issueKind, 'issue_assignees');
const milestones = milestoneFilters(issueKind);

/** A predicate on rows of `milestones`: the next milestone of its project or group that ends after today. */
const isUpcoming = (today: string): Predicate => {
  const nearest = (owner: string) => sql`
    (select next.id from milestones next where next.${sql.raw(owner)} = milestones.${sql.raw(owner)} and next.state = 'active' and next.due_date > ${today}
      order by next.due_date, next.id limit 1)`;
  return sql`milestones.id = case when milestones.project_id is null then ${nearest('group_id')} else ${nearest('project_id')} end`;
};

const milestonesThat = (word: 'Upcoming' | 'Started', { now, project_id }: Pick<SeenInList, 'now' | 'project_id'>) => {
  const today = dayOf(now);
  const test =
    word === 'Started' ? sql`milestones.state = 'active' and milestones.start_date <= ${today}` : isUpcoming(today);
  const near =
    project_id === undefined
      ? sql`true`
      : sql`(milestones.project_id = ${project_id} or milestones.group_id is not null)`;
  return sql`select milestones.id from milestones where ${near} and ${test}`;
};

/** The issues without a milestone, with any, or with an upcoming or started one. */
export function milestoneIdFilter(
  word: NonNullable<IssueFilters['milestone_id']>,
  seen: Pick<SeenInList, 'now' | 'project_id'>,
): Filter {
  if (word === 'None' || word === 'Any') return byMilestone(issueKind)[word === 'None' ? 'none' : 'any'];
  return narrow(sql`issues.milestone_id in (${milestonesThat(word, seen)})`);
}

/**
 * The user names of assignees; below Premium only one is allowed.
 * @throws ApiError 400
 */
function assigneesNamed(
  name: string,
  usernames: readonly string[],
  { names, plan }: SeenInList,
): (number | undefined)[] {
  if (usernames.length > 1 && !reaches(plan, 'premium'))
    throw badParam(name, `allows one value, but found ${usernames.length}: ${usernames.join(', ')}`);
  return usernames.map((username) => names.user(username));
}

const currentIterations = ({ now }: SeenInList) => {
  const today = dayOf(now);
  return sql`select id from iterations where start_date <= ${today} and due_date >= ${today}`;
};

const positive: FilterTable<IssueFilters, SeenInList> = {
  ...sharedFilters(issueKind),
  ...milestones.positive,
  milestone_id: milestoneIdFilter,
  iids: (iids) => narrow(sql`issues.iid = any(${iids}::bigint[])`),
  assignee_id: (text) => assignees.byId('assignee_id', text),
  assignee_username: (usernames, seen) =>
    assigneesNamed('assignee_username', usernames, seen).map((id) => assignees.byUser(id)),
  iteration_id: (text, seen) => {
    const value = idOr('iteration_id', text, ['none', 'any', 'current']);
    if (value === 'current') return narrow(sql`issues.iteration_id in (${currentIterations(seen)})`);
    return typeof value === 'number'
      ? narrow(sql`issues.iteration_id = ${value}`)
      : valued(issueKind, 'iteration_id', value);
  },
  iteration_title: (title) => narrow(sql`issues.iteration_id in (select id from iterations where title = ${title})`),
  weight: (text) => {
    const value = idOr('weight', text, ['none', 'any']);
    return typeof value === 'number'
      ? narrow(sql`issues.weight = ${value}::bigint`)
      : valued(issueKind, 'weight', value);
  },
  my_reaction_emoji: (name, { caller }) => reactedTo(issueKind, caller, name),
  due_date: (name, { now }) => dueDateFilter(name as DueDate, now),
  issue_type: (type) => {
    const where: Predicate = sql`issues.issue_type = ${type}`;
    return type === 'issue' ? wide(where) : narrow(sql`(${where} and issues.issue_type <> 'issue')`);
  },
  closed_by_id: (id) => narrow(sql`issues.closed_by_id = ${id}`),
  scope: (scope, seen) => scopeFilter(issueKind, scope, seen, { assignees }),
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
    if (value === 'none') return varying(not(inEpic));
    return { ...among(issueKind, sql`select issue_id from epic_issues`), test: inEpic };
  },
  health_status: (status) => {
    const word = wordOf(status);
    if (word === 'none') return valued(issueKind, 'health_status', word);
    return narrow(word ? sql`issues.health_status is not null` : sql`issues.health_status = ${status}`);
  },
};

function dueDateFilter(name: DueDate, now: Date): Filter {
  if (name === '0' || name === 'any') return valued(issueKind, 'due_date', name === '0' ? 'none' : 'any');
  const { from, until } = daysNamed(name, now);
  return narrow(sql`issues.due_date between ${from ?? '-infinity'} and ${until}`);
}

const negative: FilterTable<Excluded, SeenInList> = {
  ...sharedExclusions(issueKind),
  ...milestones.negative,
  milestone_id: (word, seen) => {
    if (word === 'None' || word === 'Any') return byMilestone(issueKind)[word === 'None' ? 'any' : 'none'];
    return wide(sql`(issues.milestone_id is not null and not exists (
      select from (${milestonesThat(word, { ...seen, project_id: undefined })}) such where such.id = issues.milestone_id))`);
  },
  iids: (iids) => wide(sql`issues.iid <> all(${iids}::bigint[])`),
  assignee_id: (text) => assignees.exceptId('not[assignee_id]', text),
  assignee_username: (usernames, seen) =>
    assignees.exceptUsers(assigneesNamed('not[assignee_username]', usernames, seen)),
  iteration_id: (text, seen) => {
    const value = idOr('not[iteration_id]', text, ['none', 'any', 'current']);
    if (value === 'current') return wide(sql`(issues.iteration_id in (${currentIterations(seen)})) is not true`);
    return typeof value === 'number'
      ? wide(sql`issues.iteration_id is distinct from ${value}`)
      : valued(issueKind, 'iteration_id', opposite[value]);
  },
  iteration_title: (title) =>
    wide(sql`(issues.iteration_id in (select id from iterations where title = ${title})) is not true`),
  weight: (text) => {
    const value = idOr('not[weight]', text, ['none', 'any']);
    return typeof value === 'number'
      ? wide(sql`issues.weight is distinct from ${value}::bigint`)
      : valued(issueKind, 'weight', opposite[value]);
  },
};

/**
 * The filters of a list.
 * @param filters as given
 * @throws ApiError 400 for values that are neither ids nor keywords
 */
export const issueFilters = (filters: IssueFilters, seen: SeenInList): Filter[] => [
  ...filtersOf(positive, filters, seen),
  ...filtersOf(negative, filters.not ?? {}, seen),
];
