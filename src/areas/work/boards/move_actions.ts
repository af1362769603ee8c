/** Moving issues between the lists of a board. */
import { sql } from 'kysely';
import {
  checkMayUpdateIssue,
  type GrantedIssue,
  issueFor,
  levels,
  type Project,
  projectFor,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, forbidden, found, unprocessable } from '../../../http/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { labelsById } from '../../planning/labels/index.ts';
import { reorder } from '../issuables/position_actions.ts';
import { orderIn } from '../issues/lists/order_rules.ts';
import { issuesAmong } from '../issues/lists/queries.ts';
import { changesFrom } from '../issues/parameters.ts';
import { updateIssue } from '../issues/update_actions.ts';
import type { BoardPlace } from './access.ts';
import { type Column, listingOf } from './filters.ts';
import type { FullBoard } from './queries.ts';

/** The source and target of a move, and the neighbouring issues in the target. */
export interface Move {
  from: Column | undefined;
  to: Column | undefined;
  after: number | undefined;
  before: number | undefined;
}

type EditInput = Parameters<typeof changesFrom>[2];

const isSame = (one: Column | undefined, other: Column) =>
  typeof one === 'object' && typeof other === 'object' ? one.id === other.id : one === other;

const assigneesOf = async (tx: Database, issue_id: number): Promise<number[]> =>
  (
    await tx
      .selectFrom('issue_assignees')
      .select('user_id')
      .where('issue_id', '=', issue_id)
      .orderBy('user_id')
      .execute()
  ).map(({ user_id }) => user_id);

const titleOf = async (tx: Database, label_id: number): Promise<string> =>
  found(undefined, (await labelsById(tx, [label_id])).get(label_id)).title;

/** The parameters of an edit that removes the issue from its list: removes the target of the list, or only the part that the new list replaces. */
async function leaving(tx: Database, issue_id: number, from: Column | undefined, to: Column): Promise<EditInput> {
  if (typeof from !== 'object') return {};
  if (from.label_id !== null && (to === 'open' || typeof to === 'object'))
    return to === 'open' || to.label_id !== null ? { remove_labels: [await titleOf(tx, from.label_id)] } : {};
  if (to !== 'open') return {};
  if (from.user_id !== null)
    return { assignee_ids: (await assigneesOf(tx, issue_id)).filter((id) => id !== from.user_id) };
  return from.milestone_id === null ? { iteration_id: null } : { milestone_id: null };
}

/** The parameters of an edit that adds the issue to its new list. */
async function entering(tx: Database, issue_id: number, from: Column | undefined, to: Column): Promise<EditInput> {
  if (typeof to !== 'object') return {};
  if (to.label_id !== null) return { add_labels: [await titleOf(tx, to.label_id)] };
  if (to.milestone_id !== null) return { milestone_id: to.milestone_id };
  if (to.iteration_id !== null) return { iteration_id: to.iteration_id };
  const left = typeof from === 'object' ? from.user_id : null;
  const others = (await assigneesOf(tx, issue_id)).filter((id) => id !== left && id !== to.user_id);
  return { assignee_ids: [to.user_id!, ...others] };
}

/** The parameters of the edit for a move; none within the same list. */
async function editFor(tx: Database, { id, state }: GrantedIssue, { from, to }: Move): Promise<EditInput> {
  if (to === undefined || isSame(from, to)) return {};
  if (to === 'closed') return state === 'closed' ? {} : { state_event: 'close' };
  return {
    ...(state === 'closed' && { state_event: 'reopen' }),
    ...(await leaving(tx, id, from, to)),
    ...(await entering(tx, id, from, to)),
  };
}

/** Checks that neighbours are in the target list. @throws ApiError 400 if one is not */
async function checkNeighbors(
  tx: Database,
  { acting, place, full }: Moving,
  { from, to, after, before }: Move,
): Promise<readonly number[]> {
  const named = [after, before].filter((id) => id !== undefined);
  const { issues, project_ids } = await issuesAmong(tx, listingOf(acting, place, full, to ?? from), named);
  const isThere = (id: number | undefined) => id === undefined || issues.some((issue) => issue.id === id);
  if (!isThere(before)) throw badRequest('move_before_id is not in the list');
  if (!isThere(after)) throw badRequest('move_after_id is not in the list');
  return [...new Set([...project_ids, ...issues.map(({ project_id }) => project_id)])];
}

/** The caller and the board of a move. */
export interface Moving {
  acting: Acting;
  place: BoardPlace;
  full: FullBoard;
}

const projectOf = async (tx: Database, { acting, place }: Moving, id: number): Promise<Project> =>
  place.kind === 'project' ? place.project : found(undefined, await projectFor(tx, acting.caller, String(id)));

/**
 * Moves an issue on a board: edits the issue, with all effects, and sets a new position, which has no effects.
 * @param tx the transaction of the move
 * @throws ApiError 404 if the issue is not on the board, 403, 400, 422
 */
export async function moveCard(tx: Database, moving: Moving, issue_id: number, move: Move): Promise<GrantedIssue> {
  const { acting, place, full } = moving;
  const { issues } = await issuesAmong(tx, listingOf(acting, place, full), [issue_id]);
  const { project_id, iid } = found(undefined, issues[0]);
  const project = await projectOf(tx, moving, project_id);
  checkMayUpdateIssue(project, found(undefined, await issueFor(tx, acting.caller, project, iid)));
  const isPlaced = move.after !== undefined || move.before !== undefined;
  // In the lock order of `reorder` and then an edit, so that two moves never deadlock.
  if (isPlaced) await sql`select from projects where id = ${project_id} for no key update`.execute(tx);
  await sql`select from issues where id = ${issue_id} for no key update`.execute(tx);
  const issue = found(undefined, await issueFor(tx, acting.caller, project, iid));
  const edit = await editFor(tx, issue, move);
  const { state_event: _, ...others } = edit;
  if (project.access_level < levels.planner && Object.keys(others).length > 0) throw forbidden();
  const near = isPlaced ? await checkNeighbors(tx, moving, move) : [];
  if (Object.keys(edit).length > 0) {
    const parent = { db: tx, caller: acting.caller, plan: acting.plan, project };
    await updateIssue(tx, acting, project, issue, await changesFrom(parent, issue, edit));
  }
  if (!isPlaced) return issue;
  const order = orderIn(
    project_id,
    near.filter((id) => id !== project_id),
  );
  const isMoved = await reorder(tx, order, issue_id, { after: move.after, before: move.before });
  if (!isMoved) throw unprocessable('Unprocessable Entity');
  return issue;
}
