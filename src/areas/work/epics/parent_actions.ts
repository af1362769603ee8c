/** The tree of epics: parents and children. */
import { sql } from 'kysely';
import { epicKind, isGroup, isMemberOfGroup, levels, theEpic } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { noteOnBoth } from '../../conversation/notes/index.ts';
import { firstPosition } from '../issuables/position_actions.ts';
import { assignedText, noMatchText, referenceTo } from '../issuables/rules.ts';
import { childrenIn } from './position_actions.ts';
import { type EpicReference, epicNamed, visibleEpic } from './queries.ts';

/** The most levels of a tree. */
const maximumLevels = 7;

export interface ParentRefusal {
  status: 404 | 409 | 422;
  text: string;
}
const notAdded = (why: string): ParentRefusal => ({ status: 422, text: `This epic cannot be added. ${why}` });
const unknown: ParentRefusal = { status: 404, text: noMatchText(epicKind) };
const assigned: ParentRefusal = { status: 409, text: assignedText(epicKind) };

/** Serialises tree changes: two valid concurrent changes could create a cycle. */
const lockTrees = (tx: Database) => sql`select pg_advisory_xact_lock(hashtext('parents of epics'))`.execute(tx);

/** Whether the child is an ancestor of the parent, and the number of levels of the resulting tree. */
async function levelsOf(
  tx: Database,
  child_id: number,
  parent_id: number,
): Promise<{ is_above: boolean; levels: number }> {
  const { rows } = await sql<{ is_above: boolean; levels: number }>`
    with recursive above as (
      select id, parent_id, 1 as level from epics where id = ${parent_id}
      union all select epics.id, epics.parent_id, level + 1 from above join epics on epics.id = above.parent_id
    ), below as (
      select id, 1 as level from epics where id = ${child_id}
      union all select epics.id, level + 1 from below join epics on epics.parent_id = below.id
    )
    select exists (select from above where id = ${child_id}) as is_above,
           (select max(level) from above) + (select max(level) from below) as levels`.execute(tx);
  return rows[0]!;
}

/**
 * Whether the rules for trees allow an imported epic below another one of its group.
 * @param tx the transaction that imports it
 */
export async function mayBeBelow(tx: Database, child_id: number, parent_id: number): Promise<boolean> {
  await lockTrees(tx);
  const { is_above, levels: depth } = await levelsOf(tx, child_id, parent_id);
  const open = tx.selectFrom('epics').select('id').where('id', '=', child_id).where('confidential', '=', false);
  const hidden = tx.selectFrom('epics').select('id').where('id', '=', parent_id).where('confidential', '=', true);
  return !is_above && depth <= maximumLevels && !((await open.executeTakeFirst()) && (await hidden.executeTakeFirst()));
}

/** Whether the caller may change the epics of a group: as a Planner, while it is neither archived nor marked for deletion. */
export async function mayPlanIn(tx: Database, caller: Caller, group_id: number): Promise<boolean> {
  const query = tx
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', group_id)
    .where(caller.admin ? sql<boolean>`true` : isMemberOfGroup(caller, levels.planner))
    .where(sql<boolean>`not ${isGroup('archived')} and not ${isGroup('marked_for_deletion')}`);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Why an epic cannot be the child of another, undefined if it can. */
async function refusalOf(
  tx: Database,
  caller: Caller,
  child: EpicReference & { parent_id: number | null },
  parent: EpicReference | undefined,
): Promise<ParentRefusal | undefined> {
  if (!parent || !(await mayPlanIn(tx, caller, parent.group_id))) return unknown;
  if (parent.id === child.id) return notAdded('An epic cannot be added to itself.');
  if (child.parent_id === parent.id) return assigned;
  const found = await levelsOf(tx, child.id, parent.id);
  if (found.is_above) return notAdded('It is already an ancestor of the parent epic.');
  if (found.levels > maximumLevels)
    return notAdded(
      `One or more epics would exceed the maximum depth (${maximumLevels}) from its most distant ancestor.`,
    );
  if (parent.confidential && !child.confidential)
    return notAdded('A non-confidential epic cannot be assigned to a confidential parent epic.');
  return undefined;
}

async function note(
  tx: Database,
  author_id: number,
  verb: 'added' | 'removed',
  parent: EpicReference,
  child: EpicReference,
) {
  const [toChild, toParent] = [
    referenceTo(epicKind, parent.group_id, child),
    referenceTo(epicKind, child.group_id, parent),
  ];
  const [onParent, onChild] =
    verb === 'added'
      ? [`added epic ${toChild} as child epic`, `added epic ${toParent} as parent epic`]
      : [`removed child epic ${toChild}`, `removed parent epic ${toParent}`];
  await noteOnBoth(tx, author_id, [theEpic(parent.id), onParent], [theEpic(child.id), onChild]);
}

const parentOf = async (tx: Database, id: number): Promise<number | null> =>
  (await tx.selectFrom('epics').select('parent_id').where('id', '=', id).forNoKeyUpdate().executeTakeFirstOrThrow())
    .parent_id;

/**
 * Makes an epic the first child of another, or removes its parent.
 * @param tx the transaction of the change
 * @param caller may change the child; the right to change the parent is checked here
 * @param child_id the epic
 * @param parent_id the new parent; null for none
 * @returns why it was refused, undefined if it succeeded
 */
export async function setParent(
  tx: Database,
  caller: Caller,
  child_id: number,
  parent_id: number | null,
): Promise<ParentRefusal | undefined> {
  await lockTrees(tx);
  const before_id = await parentOf(tx, child_id);
  const child = { ...(await epicNamed(tx, child_id)), parent_id: before_id };
  const parent = parent_id === null ? undefined : await visibleEpic(tx, caller, parent_id);
  const refusal = parent_id === null ? undefined : await refusalOf(tx, caller, child, parent);
  if (refusal) return refusal;
  await tx
    .updateTable('epics')
    .set({ parent_id, relative_position: parent_id === null ? null : firstPosition(childrenIn(parent_id)) })
    .where('id', '=', child_id)
    .execute();
  if (before_id !== null) await note(tx, caller.id, 'removed', await epicNamed(tx, before_id), child);
  if (parent) await note(tx, caller.id, 'added', parent, child);
  return undefined;
}

/**
 * Makes an epic of any group the first child of another.
 * @param tx the transaction of the change
 * @param caller may change the parent; the right to change the child is checked here
 * @returns why it was refused, undefined if it succeeded
 */
export async function adopt(
  tx: Database,
  caller: Caller,
  child_id: number,
  parent_id: number,
): Promise<ParentRefusal | undefined> {
  const child = await visibleEpic(tx, caller, child_id);
  if (!child || !(await mayPlanIn(tx, caller, child.group_id))) return unknown;
  return setParent(tx, caller, child_id, parent_id);
}
