/** Complete changes to milestones. */
import { sql } from 'kysely';
import type { PlanningParent } from '../../../access/index.ts';
import { type Database, isUniqueViolation, nextIid, stamped } from '../../../db/index.ts';
import { deleteFound, found, invalidAs } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { moveReferences } from '../references/actions.ts';
import { tellOfMilestone } from './hook_actions.ts';
import { type MilestoneFields, milestoneReasons } from './rules.ts';

/** The fields of a milestone in a request; if omitted, they do not change, or are empty in a new milestone. */
export type MilestoneInput = { [Name in keyof MilestoneFields]?: MilestoneFields[Name] | undefined };

const taken = ['already being used for another group or project milestone.'];

/** The actions on milestones: the name in events, and in webhooks. */
const hookActions = { created: 'create', closed: 'close', reopened: 'reopen', destroyed: 'delete' } as const;

/**
 * Records an action on a milestone, and triggers webhooks. Only milestones of projects have activity events.
 * @param tx the transaction of the change; for a deletion, before the row is deleted
 */
async function record(
  tx: Database,
  { kind, id }: PlanningParent,
  author_id: number,
  action: keyof typeof hookActions,
  target_id: number,
): Promise<void> {
  if (kind === 'project')
    await recordEvent(tx, { project_id: id, author_id, action, target_type: 'Milestone', target_id });
  await tellOfMilestone(tx, hookActions[action], target_id);
}

export const ownerOf = ({ kind, id }: PlanningParent) => (kind === 'project' ? { project_id: id } : { group_id: id });

/**
 * @param failure the beginning of the error message
 * @throws ApiError 400 with the reasons by field
 */
async function check(
  tx: Database,
  parent: PlanningParent,
  milestone: MilestoneFields,
  failure: string,
  own_id = 0,
): Promise<void> {
  const reasons = milestoneReasons(milestone);
  if (!reasons.title && (await isTaken(tx, parent, milestone.title, own_id))) reasons.title = taken;
  if (Object.keys(reasons).length > 0) throw invalidAs(failure, reasons);
}

/** Whether the title is taken: for a project by its own milestones or those of its group, for a group by its own or those of its projects. */
async function isTaken(
  tx: Database,
  { kind, id, namespace_id }: PlanningParent,
  title: string,
  own_id: number,
): Promise<boolean> {
  const projects =
    kind === 'project' ? sql`(${id})` : sql`(select id from projects where namespace_id = ${namespace_id})`;
  const { rows } = await sql`
    select from milestones where title = ${title} and id <> ${own_id} and (group_id = ${namespace_id} or project_id in ${projects}) limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}

/** The refusal of a title that was taken concurrently. */
const refused = (error: unknown, failure: string) =>
  isUniqueViolation(error) ? invalidAs(failure, { title: taken }) : error;

/**
 * Adds a milestone.
 * @param author_id the user who adds it
 * @returns its id
 * @throws ApiError 400 with the reasons by field
 */
export async function addMilestone(
  tx: Database,
  parent: PlanningParent,
  author_id: number,
  { title, description = null, start_date = null, due_date = null }: MilestoneInput & { title: string },
): Promise<number> {
  const milestone = { title: title.trim(), description, start_date, due_date };
  const failure = 'Failed to create milestone';
  await check(tx, parent, milestone, failure);
  try {
    const id = await insertMilestone(tx, parent, milestone);
    await record(tx, parent, author_id, 'created', id);
    return id;
  } catch (error) {
    throw refused(error, failure);
  }
}

async function insertMilestone(tx: Database, parent: PlanningParent, milestone: MilestoneFields): Promise<number> {
  const owner = parent.kind === 'project' ? { project_id: parent.id } : { namespace_id: parent.id };
  const iid = await nextIid(tx, owner, 'milestones');
  const { id } = await tx
    .insertInto('milestones')
    .values({ ...ownerOf(parent), ...milestone, iid })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Changes, closes or reopens a milestone of the project or group itself.
 * @param author_id the user who changes it
 * @throws ApiError 404, 400 with the reasons by field
 */
export async function changeMilestone(
  tx: Database,
  parent: PlanningParent,
  author_id: number,
  id: number,
  { state_event, ...changes }: MilestoneInput & { state_event?: 'close' | 'activate' | undefined },
): Promise<void> {
  const failure = 'Failed to update milestone';
  const { state: stateBefore, ...before } = await lockedMilestone(tx, parent, id);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const after: MilestoneFields = { ...before, ...given };
  after.title = after.title.trim();
  await check(tx, parent, after, failure, id);
  const state = state_event && ({ close: 'closed', activate: 'active' } as const)[state_event];
  try {
    await tx
      .updateTable('milestones')
      .set(stamped({ ...after, ...(state ? { state } : {}) }))
      .where('id', '=', id)
      .execute();
  } catch (error) {
    throw refused(error, failure);
  }
  if (state === undefined || state === stateBefore) return;
  await record(tx, parent, author_id, state === 'closed' ? 'closed' : 'reopened', id);
}

/**
 * Deletes a milestone of the project or group itself.
 * @param author_id the user who deletes it
 * @throws ApiError 404 if it no longer exists
 */
export async function removeMilestone(
  tx: Database,
  parent: PlanningParent,
  author_id: number,
  id: number,
): Promise<void> {
  await record(tx, parent, author_id, 'destroyed', id);
  await deleteFound(tx, 'milestones', id);
}

async function lockedMilestone(
  tx: Database,
  parent: PlanningParent,
  id: number,
): Promise<MilestoneFields & { state: string }> {
  const query = tx
    .selectFrom('milestones')
    .select(['title', 'description', 'start_date', 'due_date', 'state'])
    .where('id', '=', id)
    .where(parent.kind === 'project' ? 'project_id' : 'group_id', '=', parent.id)
    .forUpdate();
  return found(undefined, await query.executeTakeFirst());
}

/** The group's own milestone with the title, created if missing. */
async function groupMilestoneLike(tx: Database, group: PlanningParent, milestone: MilestoneFields & { state: string }) {
  const own = tx.selectFrom('milestones').select('id').where('group_id', '=', group.id);
  const known = await own.where('title', '=', milestone.title).forUpdate().executeTakeFirst();
  if (known) return known.id;
  const iid = await nextIid(tx, { namespace_id: group.id }, 'milestones');
  const { id } = await tx
    .insertInto('milestones')
    .values({ group_id: group.id, ...milestone, iid })
    // A milestone that was added in the meantime is returned.
    .onConflict((added) => added.constraint('milestones_group_title_key').doUpdateSet({ title: milestone.title }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Promotes a project milestone to a group milestone. Milestones with the same title in the group and its projects are
 * merged into it, with their issues, merge requests, releases, and lists and scopes of boards.
 * @param group the project's group
 * @returns the id of the group milestone
 * @throws ApiError 404
 */
export async function promoteMilestone(
  tx: Database,
  project_id: number,
  id: number,
  group: PlanningParent,
): Promise<number> {
  // Locked, so that nothing can be assigned to one of them between the merge and the deletion.
  const { rows } = await sql<MilestoneFields & { id: number; state: string; project_id: number }>`
    select milestones.id, milestones.project_id, title, milestones.description, start_date, due_date, state
      from milestones join projects on projects.id = milestones.project_id
     where projects.namespace_id = ${group.id}
       and title = (select title from milestones where id = ${id} and project_id = ${project_id})
     order by milestones.id for update of milestones`.execute(tx);
  const {
    id: _,
    project_id: __,
    ...milestone
  } = found(
    undefined,
    rows.find((row) => row.id === id),
  );
  const promoted = await groupMilestoneLike(tx, group, milestone);
  const merged = rows.map((row) => row.id);
  await moveReferences(tx, 'milestones', merged, promoted);
  await sql`delete from milestones where id = any(${merged}::bigint[])`.execute(tx);
  return promoted;
}
