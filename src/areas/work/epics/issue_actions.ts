/** Assigning issues to epics. */
import { sql } from 'kysely';
import { epicKind, isGroup, type MaybeCaller, theEpic, theIssue } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, unprocessable } from '../../../http/index.ts';
import { addSystemNote, noteOnBoth } from '../../conversation/notes/index.ts';
import { firstPosition } from '../issuables/position_actions.ts';
import { noMatchText, referenceTo } from '../issuables/rules.ts';
import { issuesIn } from './position_actions.ts';
import { type EpicReference, epicNamed, visibleEpic } from './queries.ts';

/** An issue with the columns that notes and rules need. */
interface LinkedIssue {
  id: number;
  iid: number;
  confidential: boolean;
  /** The path of its project. */
  full_path: string;
  /** The group of its project; null for a personal project. */
  group_id: number | null;
  epic_id: number | null;
}

/** The issue, locked until the end of the transaction, so that concurrent assignments are serialised. */
async function issueHeld(tx: Database, issue_id: number): Promise<LinkedIssue | undefined> {
  const { rows } = await sql<LinkedIssue>`
    select issues.id, issues.iid, issues.confidential, projects.full_path::text as full_path,
           case namespaces.kind when 'group' then namespaces.id end as group_id
      from issues join projects on projects.id = issues.project_id join namespaces on namespaces.id = projects.namespace_id
     where issues.id = ${issue_id} for no key update of issues`.execute(tx);
  const [issue] = rows;
  if (!issue) return undefined;
  // Read after the lock, because a concurrent change may be running before.
  const link = await tx.selectFrom('epic_issues').select('epic_id').where('issue_id', '=', issue_id).executeTakeFirst();
  return { ...issue, epic_id: link?.epic_id ?? null };
}

async function noteAdded(tx: Database, author_id: number, issue: LinkedIssue, epic: EpicReference): Promise<void> {
  const reference = `${issue.full_path}#${issue.iid}`;
  const [onIssue, onEpic] = [theIssue(issue.id), theEpic(epic.id)];
  const toEpic = referenceTo(epicKind, issue.group_id ?? 0, epic);
  if (issue.epic_id === null)
    return noteOnBoth(tx, author_id, [onEpic, `added issue ${reference}`], [onIssue, `added to epic ${toEpic}`]);
  const before = await epicNamed(tx, issue.epic_id);
  const moved = `moved issue ${reference} to epic ${referenceTo(epicKind, before.group_id, epic)}`;
  await addSystemNote(tx, theEpic(before.id), author_id, moved, { refers_to: onIssue });
  const added = `added issue ${reference} from epic ${referenceTo(epicKind, epic.group_id, before)}`;
  await noteOnBoth(tx, author_id, [onEpic, added], [onIssue, `changed epic to ${toEpic}`]);
}

async function noteRemoved(tx: Database, author_id: number, issue: LinkedIssue, epic: EpicReference): Promise<void> {
  const reference = referenceTo(epicKind, issue.group_id ?? 0, epic);
  const [onEpic, onIssue] = [`removed issue ${issue.full_path}#${issue.iid}`, `removed from epic ${reference}`];
  await noteOnBoth(tx, author_id, [theEpic(epic.id), onEpic], [theIssue(issue.id), onIssue]);
}

/** Whether the issues of an epic can change: the group of the epic is neither archived nor marked for deletion. */
async function isOpenEpic(tx: Database, { group_id }: Pick<EpicReference, 'group_id'>): Promise<boolean> {
  const query = tx
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', group_id)
    .where(sql<boolean>`not ${isGroup('archived')} and not ${isGroup('marked_for_deletion')}`);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Why an issue cannot be in an epic. */
export type EpicRefusal = 'no such epic' | 'no group' | 'already there' | 'confidential epic';

/**
 * Adds an issue to an epic as its first one, and removes it from its previous epic.
 * @param tx the transaction of the change
 * @param caller may change the epic of the issue; the right to read the epic is checked here
 * @returns why it was refused, undefined if it succeeded
 */
export async function addToEpic(
  tx: Database,
  issue_id: number,
  epic_id: number,
  caller: Caller,
): Promise<EpicRefusal | undefined> {
  const epic = await visibleEpic(tx, caller, epic_id);
  const issue = epic && (await issueHeld(tx, issue_id));
  if (!epic || !issue) return 'no such epic';
  if (issue.group_id === null) return 'no group';
  if (issue.epic_id === epic_id) return 'already there';
  const before = issue.epic_id === null ? undefined : await epicNamed(tx, issue.epic_id);
  if (!(await isOpenEpic(tx, epic)) || (before && !(await isOpenEpic(tx, before)))) return 'no such epic';
  if (epic.confidential && !issue.confidential) return 'confidential epic';
  await sql`
    insert into epic_issues (issue_id, epic_id, relative_position)
    values (${issue_id}, ${epic_id}, ${firstPosition(issuesIn(epic_id))})
    on conflict (issue_id) do update set epic_id = excluded.epic_id, relative_position = excluded.relative_position`.execute(
    tx,
  );
  await noteAdded(tx, caller.id, issue, epic);
  return undefined;
}

/**
 * Removes an issue from its epic. Does nothing unless it is in an epic that the caller may read.
 * @param tx the transaction of the change
 * @param caller may change the epic of the issue
 * @throws ApiError 422 if the group of the epic is archived or marked for deletion
 */
export async function removeFromEpic(tx: Database, issue_id: number, caller: Caller): Promise<void> {
  const issue = await issueHeld(tx, issue_id);
  const epic = issue?.epic_id && (await visibleEpic(tx, caller, issue.epic_id));
  if (!issue || !epic) return;
  if (!(await isOpenEpic(tx, epic))) throw unprocessable(refusals['no such epic']);
  await tx.deleteFrom('epic_issues').where('issue_id', '=', issue_id).execute();
  await noteRemoved(tx, caller.id, issue, epic);
}

export const confidentialEpicText = 'Cannot set confidential epic for a non-confidential issue';
const refusals: Record<Exclude<EpicRefusal, 'already there'>, string> = {
  'no such epic': noMatchText(epicKind),
  'no group': 'Issues of projects that are in no group cannot be added to epics.',
  'confidential epic': confidentialEpicText,
};

/**
 * Sets or clears the epic of an issue, with system notes on all sides.
 * @param tx the transaction of the change
 * @param caller may edit the issue; the right to read the epic is checked here
 * @throws ApiError 422 if the issue cannot be in the epic, the caller may not read it, or its group is archived or marked for deletion
 */
export async function setEpicOfIssue(
  tx: Database,
  issue: { id: number },
  epic_id: number | null,
  caller: Caller,
): Promise<void> {
  if (epic_id === null) return removeFromEpic(tx, issue.id, caller);
  const refusal = await addToEpic(tx, issue.id, epic_id, caller);
  if (refusal !== undefined && refusal !== 'already there') throw unprocessable(refusals[refusal]);
}

/** The id of the epic with this iid in the group of a project or the nearest ancestor that has one, if the caller may read it. */
export async function epicNumbered(
  db: Database,
  caller: MaybeCaller,
  project: { namespace_id: number },
  iid: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select epics.id from namespaces place
      join epics on epics.group_id = any(place.traversal_ids) join namespaces groups on groups.id = epics.group_id
     where place.id = ${project.namespace_id} and epics.iid = ${iid}::bigint order by cardinality(groups.traversal_ids) desc limit 1`.execute(
    db,
  );
  const [row] = rows;
  return row && (await visibleEpic(db, caller, row.id))?.id;
}
