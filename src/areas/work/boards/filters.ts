/** The issues on a board and in each of its lists, as filters of issue lists. */
import { sql } from 'kysely';
import { issueKind } from '../../../access/index.ts';
import { type Filter, narrow, wide } from '../../../lists/index.ts';
import { notReferredTo, referredTo, valued } from '../issuables/filters.ts';
import { milestoneIdFilter } from '../issues/lists/filters.ts';
import type { Listing } from '../issues/lists/queries.ts';
import type { BoardPlace } from './access.ts';
import type { BoardRow, FullBoard, ListRow } from './queries.ts';

const bears = (label_id: number): Filter =>
  referredTo(issueKind, { rows: 'issue_labels', column: 'label_id', values: [label_id] });
const isAssigned = (user_id: number): Filter =>
  referredTo(issueKind, { rows: 'issue_assignees', column: 'user_id', values: [user_id] });
const inMilestone = (id: number): Filter => narrow(sql`issues.milestone_id = ${id}`);
const inIteration = (id: number): Filter => narrow(sql`issues.iteration_id = ${id}`);

const milestoneWords = { none: 'None', upcoming: 'Upcoming', started: 'Started' } as const;

function milestoneScope({ milestone_id, milestone_wildcard }: BoardRow, place: BoardPlace): Filter[] {
  if (milestone_id !== null) return [inMilestone(milestone_id)];
  if (milestone_wildcard === null) return [];
  const project_id = place.kind === 'project' ? place.id : undefined;
  const word = milestoneWords[milestone_wildcard as keyof typeof milestoneWords];
  return [milestoneIdFilter(word, { now: new Date(), project_id })];
}

function assigneeScope({ assignee_id, assignee_wildcard }: BoardRow): Filter[] {
  if (assignee_id !== null) return [isAssigned(assignee_id)];
  if (assignee_wildcard === null) return [];
  return [wide(sql`not exists (select from issue_assignees where issue_id = issues.id)`)];
}

/** A scope of any weight filters nothing, as for -1 in v4. */
function weightScope({ weight }: BoardRow): Filter[] {
  if (weight === null || weight === -1) return [];
  return [weight === -2 ? valued(issueKind, 'weight', 'none') : narrow(sql`issues.weight = ${weight}`)];
}

/** The issues of the project or group that are on the board. */
const onBoard = (board: BoardRow, place: BoardPlace): Filter[] => [
  ...board.label_ids.map(bears),
  ...assigneeScope(board),
  ...milestoneScope(board, place),
  ...(board.iteration_id === null ? [] : [inIteration(board.iteration_id)]),
  ...weightScope(board),
];

/** A list of a board, or one of its two fixed columns. */
export type Column = ListRow | 'open' | 'closed';

function standsFor({ label_id, user_id, milestone_id, iteration_id }: ListRow): Filter {
  if (label_id !== null) return bears(label_id);
  if (user_id !== null) return isAssigned(user_id);
  return milestone_id === null ? inIteration(iteration_id!) : inMilestone(milestone_id);
}

const idsOf = (lists: readonly ListRow[], name: 'label_id' | 'user_id' | 'milestone_id' | 'iteration_id') =>
  lists.flatMap((list) => list[name] ?? []);

const without = (column: 'milestone_id' | 'iteration_id', ids: readonly number[]): Filter[] => {
  const value = sql.ref(`issues.${column}`);
  return ids.length === 0 ? [] : [wide(sql`(${value} is null or ${value} <> all(${ids}::bigint[]))`)];
};

const notIn = (rows: string, column: string, values: readonly number[]): Filter[] =>
  values.length === 0 ? [] : [notReferredTo(issueKind, { rows, column, values })];

/** The issues of a board in a column, regardless of their state. */
function inColumn({ lists }: FullBoard, column: Column): Filter[] {
  if (column === 'closed') return [];
  if (column !== 'open') return [standsFor(column)];
  return [
    ...notIn('issue_labels', 'label_id', idsOf(lists, 'label_id')),
    ...notIn('issue_assignees', 'user_id', idsOf(lists, 'user_id')),
    ...without('milestone_id', idsOf(lists, 'milestone_id')),
    ...without('iteration_id', idsOf(lists, 'iteration_id')),
  ];
}

/** The listing of the issues on a board, or in one of its columns. Readers see only issues that they may read. */
export const listingOf = (
  { caller, plan }: Pick<Listing, 'caller' | 'plan'>,
  place: BoardPlace,
  full: FullBoard,
  column?: Column,
): Listing => ({
  caller,
  plan,
  scope: place.kind === 'project' ? { project: place.project } : { group: place.group },
  filters: {
    ...(place.kind === 'group' && { non_archived: true }),
    ...(column !== undefined && { state: column === 'closed' ? 'closed' : 'opened' }),
  },
  only: [...onBoard(full.board, place), ...(column === undefined ? [] : inColumn(full, column))],
});
