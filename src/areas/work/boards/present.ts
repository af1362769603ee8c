/** How boards and their lists appear in replies (docs/reference/boards.md). */
import { type Static, Type } from 'typebox';
import { groupPage } from '../../../access/index.ts';
import { found, Id, nullable, optional, resource, type Services } from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { Iteration, iterationsById, presentIteration } from '../../planning/iterations/index.ts';
import { LabelDetails, labelDetails, labelsById } from '../../planning/labels/index.ts';
import { Milestone, milestonesById, presentMilestone } from '../../planning/milestones/index.ts';
import { ProjectBasicForm, presentProjectBasic, visibleProjectRows } from '../../spaces/projects/index.ts';
import type { GrantedPlace } from './access.ts';
import { type BoardRow, type ListRow, listsOf } from './queries.ts';

export const BoardList = resource('BoardList', {
  id: Id,
  label: nullable(LabelDetails),
  position: Type.Integer({ description: 'From 0, without gaps' }),
  max_issue_count: Type.Integer({ description: '0: no limit' }),
  max_issue_weight: Type.Integer({ description: '0: no limit' }),
  limit_metric: nullable(Type.Enum(['all_metrics', 'issue_count', 'issue_weights'])),
  list_type: Type.Enum(['label', 'assignee', 'milestone', 'iteration']),
  collapsed: Type.Boolean({ description: 'Whether the caller sees it collapsed' }),
  assignee: optional(Type.Object({ id: Id, name: Type.String(), username: Type.String() })),
  milestone: optional(Milestone),
  iteration: optional(Iteration),
});

export const Board = resource('Board', {
  id: Id,
  name: Type.String(),
  hide_backlog_list: Type.Boolean(),
  hide_closed_list: Type.Boolean(),
  project: nullable(ProjectBasicForm),
  group: nullable(Type.Object({ id: Id, name: Type.String(), web_url: Type.String() })),
  lists: Type.Array(BoardList),
  milestone: nullable(Milestone),
  milestone_wildcard: nullable(
    Type.Enum(['none', 'upcoming', 'started'], { description: 'In place of a milestone: -1, -2 or -3 in requests' }),
  ),
  iteration: nullable(Iteration),
  assignee: nullable(UserBasic),
  assignee_wildcard: nullable(Type.Enum(['none'], { description: 'In place of an assignee: -1 in requests' })),
  labels: Type.Array(LabelDetails),
  weight: nullable(Type.Integer({ description: '-1: any, -2: none' })),
});

type Reading = Pick<Services, 'db' | 'url'>;

const idsOf = <Name extends string>(rows: readonly { [N in Name]: number | null }[], name: Name): number[] => [
  ...new Set(rows.flatMap((row) => row[name] ?? [])),
];

/** The rows that lists and boards refer to, read in one statement per kind. */
async function named({ db }: Reading, lists: readonly ListRow[], boards: readonly BoardRow[] = []) {
  const rows = [...lists, ...boards];
  const [labels, milestones, iterations] = await Promise.all([
    labelsById(db, [...idsOf(lists, 'label_id'), ...boards.flatMap(({ label_ids }) => label_ids)]),
    milestonesById(db, idsOf(rows, 'milestone_id')),
    iterationsById(db, idsOf(rows, 'iteration_id')),
  ]);
  return { labels: await labelDetails(labels.values()), milestones, iterations };
}
type Named = Awaited<ReturnType<typeof named>>;

/** The type of a list, by its target. */
function typeOf({ label_id, user_id, milestone_id }: Pick<ListRow, 'label_id' | 'user_id' | 'milestone_id'>) {
  if (label_id !== null) return 'label';
  if (user_id !== null) return 'assignee';
  return milestone_id === null ? 'iteration' : 'milestone';
}

function presentList(url: string, row: ListRow, { labels, milestones, iterations }: Named): Static<typeof BoardList> {
  const { id, position, max_issue_count, max_issue_weight, limit_metric, collapsed, assignee } = row;
  const [milestone, iteration] = [milestones.get(row.milestone_id ?? 0), iterations.get(row.iteration_id ?? 0)];
  return {
    id,
    label: labels.get(row.label_id ?? 0) ?? null,
    position,
    max_issue_count,
    max_issue_weight,
    limit_metric,
    list_type: typeOf(row),
    collapsed,
    ...(assignee && { assignee: { id: assignee.id, name: assignee.name, username: assignee.username } }),
    ...(milestone && { milestone: presentMilestone(url, milestone) }),
    ...(iteration && { iteration: presentIteration(url, iteration) }),
  };
}

/** The lists of a board, in the same order. */
export async function presentLists(services: Reading, lists: readonly ListRow[]) {
  const known = await named(services, lists);
  return lists.map((list) => presentList(services.url, list, known));
}

/** The boards of a project or group with their lists, in the same order. */
export async function presentBoards(
  services: Reading & Pick<Services, 'ssh_url'>,
  { caller, place }: GrantedPlace,
  boards: readonly BoardRow[],
): Promise<Static<typeof Board>[]> {
  const { db, url } = services;
  if (boards.length === 0) return [];
  const lists = await listsOf(
    db,
    caller.id,
    boards.map(({ id }) => id),
  );
  const known = await named(services, lists, boards);
  const row =
    place.kind === 'project' &&
    found(undefined, await visibleProjectRows(db, caller).where('projects.id', '=', place.id).executeTakeFirst());
  const project = row ? presentProjectBasic(services, row) : null;
  const group =
    place.kind === 'group'
      ? { id: place.id, name: place.group.name, web_url: url + groupPage(place.group.full_path) }
      : null;
  return boards.map((board) => {
    const milestone = known.milestones.get(board.milestone_id ?? 0);
    const iteration = known.iterations.get(board.iteration_id ?? 0);
    return {
      id: board.id,
      name: board.name,
      hide_backlog_list: board.hide_backlog_list,
      hide_closed_list: board.hide_closed_list,
      project,
      group,
      lists: lists.filter(({ board_id }) => board_id === board.id).map((list) => presentList(url, list, known)),
      milestone: milestone ? presentMilestone(url, milestone) : null,
      milestone_wildcard: board.milestone_wildcard as Static<typeof Board>['milestone_wildcard'],
      iteration: iteration ? presentIteration(url, iteration) : null,
      assignee: board.assignee && presentUserBasic(url, board.assignee),
      assignee_wildcard: board.assignee_wildcard as Static<typeof Board>['assignee_wildcard'],
      labels: board.label_ids.flatMap((id) => known.labels.get(id) ?? []),
      weight: board.weight,
    };
  });
}
