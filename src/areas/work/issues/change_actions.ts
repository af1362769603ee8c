/** Changing issues. */
import { sql, type Updateable } from 'kysely';
import { issueKind, type Project, theIssue } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import { type ChangesOf, givenColumns, hookChanges } from '../../../fields/index.ts';
import { found } from '../../../http/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { labelsAfter, labelsOf } from '../../planning/labels/index.ts';
import { setEpicOfIssue } from '../epics/issue_actions.ts';
import {
  changedColumns,
  recordEffects,
  taskColumns,
  writeAssignees,
  writeLabels,
} from '../issuables/change_actions.ts';
import type { IssuableState } from '../issuables/definition.ts';
import { issueFields } from './fields.ts';

/** The changes. Omitted members keep their values. The caller may make all of them, and all are valid. */
export interface IssueChanges extends ChangesOf<typeof issueFields, 'issues'> {
  state_event?: 'close' | 'reopen' | undefined;
  epic_id?: number | null | undefined;
  /** All assignees afterwards. */
  assignee_ids?: readonly number[] | undefined;
  /** Titles of labels. `labels` replaces all, then `add_labels` and `remove_labels` are applied. */
  labels?: readonly string[] | undefined;
  add_labels?: readonly string[] | undefined;
  remove_labels?: readonly string[] | undefined;
  /** Whether missing labels are created in the project; otherwise they are ignored. */
  creates_labels?: boolean;
  /** The issue that it was moved to or is a duplicate of. */
  moved_to_id?: number | undefined;
  duplicated_to_id?: number | undefined;
  /** ISO 8601; defaults to now. */
  updated_at?: string | undefined;
  created_at?: string | undefined;
}

const plainColumns = [...givenColumns(issueFields), 'moved_to_id', 'duplicated_to_id', 'created_at'] as const;

const lockedIssue = async (tx: Database, id: number) =>
  found(
    undefined,
    await tx
      .selectFrom('issues')
      .select([...plainColumns, 'state'])
      .select(
        sql<number[]>`array(select user_id from issue_assignees where issue_id = issues.id)::bigint[]`.as(
          'assignee_ids',
        ),
      )
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst(),
  );
type LockedIssue = Awaited<ReturnType<typeof lockedIssue>>;

/** The columns whose values change. */
async function columnsFrom(
  before: LockedIssue,
  changes: IssueChanges,
  closer_id: number,
): Promise<Updateable<DB['issues']>> {
  const columns: Updateable<DB['issues']> = {};
  Object.assign(columns, changedColumns(plainColumns, before, changes, closer_id));
  Object.assign(columns, await taskColumns(columns));
  // A reopened issue is neither moved nor a duplicate.
  if (columns.state === 'opened') Object.assign(columns, { moved_to_id: null, duplicated_to_id: null });
  return columns;
}

interface LabelChange {
  before: readonly number[];
  after: readonly number[];
}

/** The labels before and after. */
async function labelsChanged(
  tx: Database,
  { plan }: Pick<Acting, 'plan'>,
  { issue_id, project_id }: { issue_id: number; project_id: number },
  changes: IssueChanges,
): Promise<LabelChange> {
  const borne = await labelsOf(tx, issueKind, issue_id);
  const borneAfter = await labelsAfter(tx, { project_id }, borne, changes, {
    create: changes.creates_labels ?? false,
    plan,
  });
  return { before: borne.map(({ id }) => id), after: borneAfter.map(({ id }) => id) };
}

const stateFrom = (row: LockedIssue, label_ids: readonly number[], changed: object = {}): IssuableState =>
  ({ ...row, label_ids, ...changed }) as IssuableState;

/**
 * Changes an issue, with all effects: system notes, resource events, activity events and to-do items. A value that stays the same has no effects and is not a change.
 * @param tx the transaction of the change, which locks the issue
 * @throws ApiError 404 if it is deleted, 422 for an epic that it cannot be in
 */
export async function changeIssue(
  tx: Database,
  acting: Acting,
  project: Pick<Project, 'id'>,
  issue_id: number,
  changes: IssueChanges,
): Promise<void> {
  const row = await lockedIssue(tx, issue_id);
  if (changes.epic_id !== undefined) await setEpicOfIssue(tx, { id: issue_id }, changes.epic_id, acting.caller);
  const labels = await labelsChanged(tx, acting, { issue_id, project_id: project.id }, changes);
  const assignee_ids = changes.assignee_ids ?? row.assignee_ids;
  const columns = await columnsFrom(row, changes, acting.caller.id);
  const on = theIssue(issue_id);
  const hasOtherLabels = await writeLabels(tx, on, labels);
  const hasOtherAssignees = await writeAssignees(tx, on, { before: row.assignee_ids, after: assignee_ids });
  if (!hasOtherLabels && !hasOtherAssignees && Object.keys(columns).length === 0 && changes.updated_at === undefined)
    return;
  await tx
    .updateTable('issues')
    .set({ ...columns, updated_at: changes.updated_at ?? sql`now()` })
    .where('id', '=', issue_id)
    .execute();
  const from = stateFrom(row, labels.before);
  const to = stateFrom(row, labels.after, { ...columns, assignee_ids });
  await recordEffects(tx, acting, {
    on,
    project_id: project.id,
    from,
    to,
    also: hookChanges(issueFields, row, { ...row, ...columns }),
    is_new: false,
    at: changes.updated_at,
  });
}
