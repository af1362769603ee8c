/** Moving and cloning issues (docs/reference/issues.md). */
import { type SqlBool, sql } from 'kysely';
import { issueKind, levels, mayUse, type Project, theIssue } from '../../../../access/index.ts';
import { copyReferences, type Database, referencesTo } from '../../../../db/index.ts';
import { type GivenOf, givenColumns } from '../../../../fields/index.ts';
import { badRequest, found } from '../../../../http/index.ts';
import { noteOnBoth } from '../../../conversation/notes/index.ts';
import type { Acting } from '../../../conversation/quick_actions/index.ts';
import { iterationFor } from '../../../planning/iterations/index.ts';
import { labelsFor, labelsOf } from '../../../planning/labels/index.ts';
import { milestoneFor, milestonesById, milestoneTitled } from '../../../planning/milestones/index.ts';
import { atMove } from '../../../references.ts';
import { tellOfIssue } from '../../issuables/hooks/actions.ts';
import { referenceTo } from '../../issuables/rules.ts';
import { changeIssue } from '../change_actions.ts';
import { issueFields } from '../fields.ts';
import { type IssueValues, insertIssue } from '../insertion_actions.ts';
import { assignableUsers } from '../lists/assignee_queries.ts';
import { copyNotesElsewhere, type TextMove, textsElsewhere } from './text_actions.ts';

/** The copy of an issue. */
export interface PlacedIssue {
  id: number;
  iid: number;
  project_id: number;
}

/** The source and the target project, each with the caller's level. */
export interface Way {
  source: Project;
  target: Project;
  issue_id: number;
}

const original = async (tx: Database, id: number) =>
  found(
    'Issue',
    await tx
      .selectFrom('issues')
      .select(['id', 'iid', 'project_id', 'author_id', 'moved_to_id', 'created_at', ...givenColumns(issueFields)])
      .select(
        sql<number[]>`array(select user_id from issue_assignees where issue_id = issues.id)::bigint[]`.as(
          'assignee_ids',
        ),
      )
      .where('id', '=', id)
      .forNoKeyUpdate()
      .$narrowType<GivenOf<typeof issueFields, 'issues'>>()
      .executeTakeFirst(),
  );
type Original = Awaited<ReturnType<typeof original>>;

/** The move in the form for its texts. */
const textMoveOf = ({ source, target }: Pick<Way, 'source' | 'target'>): TextMove => ({
  source,
  target: { project_id: target.id, group_id: null },
});

const manages = (project: Project) => project.access_level >= levels.planner && mayUse(project, 'issues');

/** @throws ApiError 400 with the reason if the issue cannot be moved there */
function checkWay(verb: 'move' | 'clone', { source, target }: Way, { moved_to_id }: Original): void {
  if (verb === 'move' && source.id === target.id)
    throw badRequest('Cannot move work item to same project or group it originates from.');
  const mayLeave = verb === 'clone' || moved_to_id === null;
  if (!manages(source) || !manages(target) || !mayLeave)
    throw badRequest(`Cannot ${verb} work item due to insufficient permissions.`);
  if (target.marked_for_deletion)
    throw badRequest(`Cannot ${verb} work item to target namespace as it is pending deletion.`);
  if (source.read_only || target.read_only)
    throw badRequest(`Cannot ${verb} work item due to insufficient permissions.`);
}

/** The milestone of the issue in its new project: the same if the project may use it, otherwise one with the same title. */
async function milestoneThere(tx: Database, target: Project, id: number | null): Promise<number | null> {
  if (id === null) return null;
  const same = await milestoneFor(tx, target, id);
  if (same) return id;
  const title = (await milestonesById(tx, [id])).get(id)?.title;
  return (title === undefined ? undefined : await milestoneTitled(tx, target, title))?.id ?? null;
}

/** The values of the issue in its new project, which has other labels, milestones and members. */
async function valuesThere(
  tx: Database,
  { source, target }: Way,
  issue: Original,
): Promise<Omit<IssueValues, 'author_id'>> {
  const titles = (await labelsOf(tx, issueKind, issue.id)).map(({ title }) => title);
  const labels = await labelsFor(tx, { project_id: target.id }, titles, { create: false });
  const iteration = issue.iteration_id === null ? undefined : await iterationFor(tx, target, issue.iteration_id);
  return {
    ...issue,
    state: 'opened',
    description:
      issue.description && (await textsElsewhere(tx, [issue.description], textMoveOf({ source, target })))[0]!,
    milestone_id: await milestoneThere(tx, target, issue.milestone_id),
    iteration_id: iteration?.id ?? null,
    assignee_ids: await assignableUsers(tx, target, issue.assignee_ids),
    label_ids: [...labels.values()].map(({ id }) => id),
  };
}

/**
 * Gives the new issue copies of the rows that name the original, as `areas/references.ts` says.
 * @param tables if given, only of these
 */
async function copyRows(tx: Database, from: number, to: number, tables?: readonly string[]): Promise<void> {
  const copied = (await referencesTo(tx, 'issues')).filter(
    ({ table, column }) => atMove[`${table}.${column}`] === 'copy' && (tables?.includes(table) ?? true),
  );
  for (const references of Map.groupBy(copied, ({ table }) => table).values()) {
    // What is about a comment is copied with it.
    const isMeant = references[0]!.others.includes('note_id') ? sql<SqlBool>`note_id is null` : sql<SqlBool>`true`;
    await copyReferences(tx, references, { from, to, isMeant });
  }
}

/** Adds system notes to both issues that reference the other one. */
async function noteWay(
  tx: Database,
  { caller }: Acting,
  way: Way,
  from: Original,
  to: PlacedIssue,
  verb: 'moved' | 'cloned',
) {
  const there = referenceTo(issueKind, way.source.id, { ...to, full_path: way.target.full_path });
  const here = referenceTo(issueKind, way.target.id, { ...from, full_path: way.source.full_path });
  await noteOnBoth(
    tx,
    caller.id,
    [theIssue(from.id), `${verb} to ${there}`],
    [theIssue(to.id), `${verb} from ${here}`],
  );
}

/**
 * Moves an issue: creates a new issue in the target with all its data, and closes the old one with a reference to it.
 * @throws ApiError 400 if it cannot be moved there, 404 if it is deleted
 */
export async function moveIssue(tx: Database, acting: Acting, way: Way): Promise<PlacedIssue> {
  const from = await original(tx, way.issue_id);
  checkWay('move', way, from);
  const values = { ...(await valuesThere(tx, way, from)), author_id: from.author_id, created_at: from.created_at };
  const to = { ...(await insertIssue(tx, way.target, values, { is_news: false })), project_id: way.target.id };
  await sql`
    update issues set state = old.state, closed_at = old.closed_at, closed_by_id = old.closed_by_id, time_estimate_s = old.time_estimate_s, total_time_spent_s = old.total_time_spent_s, imported_from = old.imported_from
      from issues old where issues.id = ${to.id} and old.id = ${from.id}`.execute(tx);
  await copyRows(tx, from.id, to.id);
  await copyNotesElsewhere(tx, theIssue(from.id), theIssue(to.id), textMoveOf(way));
  await noteWay(tx, acting, way, from, to, 'moved');
  await changeIssue(tx, acting, way.source, from.id, { state_event: 'close', moved_to_id: to.id });
  await tellOfIssue(tx, { ...to, actor_id: acting.caller.id, action: 'open' }, from.confidential);
  return to;
}

/**
 * Clones an issue: the caller creates a new one with everything that the target project supports. Time spent is not copied.
 * @throws ApiError 400 if it cannot be cloned, 404 if it is deleted
 */
export async function cloneIssue(tx: Database, acting: Acting, way: Way, with_notes: boolean): Promise<PlacedIssue> {
  const from = await original(tx, way.issue_id);
  checkWay('clone', way, from);
  const values = { ...(await valuesThere(tx, way, from)), author_id: acting.caller.id, created_at: undefined };
  const to = { ...(await insertIssue(tx, way.target, values, { is_news: true })), project_id: way.target.id };
  await sql`
    update issues set time_estimate_s = old.time_estimate_s
      from issues old where issues.id = ${to.id} and old.id = ${from.id}`.execute(tx);
  await copyRows(tx, from.id, to.id, ['user_mentions']);
  if (with_notes) await copyNotesElsewhere(tx, theIssue(from.id), theIssue(to.id), textMoveOf(way));
  await noteWay(tx, acting, way, from, to, 'cloned');
  await tellOfIssue(tx, { ...to, actor_id: acting.caller.id, action: 'open' }, from.confidential);
  return to;
}
