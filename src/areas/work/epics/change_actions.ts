/** Changing epics. */
import { sql, type Updateable } from 'kysely';
import { epicKind, theEpic } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import { type ChangesOf, givenColumns, pick } from '../../../fields/index.ts';
import { found, invalid } from '../../../http/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { colorFrom, type LabelsAsked, labelsAfter, labelsOf } from '../../planning/labels/index.ts';
import { changedColumns, recordEffects, writeLabels } from '../issuables/change_actions.ts';
import type { IssuableState } from '../issuables/definition.ts';
import { epicFields } from './fields.ts';
import { setParent } from './parent_actions.ts';
import { endsBeforeStart, type FixedDates } from './rules.ts';

/** The changes. Omitted members keep their values. The caller may make all of them, and may read everything they refer to. */
export interface EpicChanges extends LabelsAsked, ChangesOf<typeof epicFields, 'epics'> {
  state_event?: 'close' | 'reopen' | undefined;
  parent_id?: number | null | undefined;
  /** ISO 8601; defaults to now. */
  updated_at?: string | undefined;
}

const plainColumns = givenColumns(epicFields);

/** The given plain columns, in stored form. */
export const columnsGiven = ({ title, color, ...changes }: EpicChanges) =>
  pick({ ...changes, title: title?.trim(), color: color === undefined ? undefined : colorFrom(color) }, plainColumns);

/** @throws ApiError 400 */
export function checkDates(dates: FixedDates): void {
  if (endsBeforeStart(dates)) throw invalid({ due_date: ['must be greater than or equal to start date'] });
}

/** @throws ApiError 400 if the epic cannot have that parent */
export async function changeParent(
  tx: Database,
  { caller }: Acting,
  id: number,
  parent_id: number | null,
): Promise<void> {
  const refusal = await setParent(tx, caller, id, parent_id);
  if (refusal && refusal.status !== 409) throw invalid({ parent: [refusal.text] });
}

/** A confidential epic must not be revealed by its issues and children, nor they by the epic. */
async function checkConfidentiality(tx: Database, id: number, confidential: boolean): Promise<void> {
  const { rows } = await sql<{ issue: boolean; child: boolean; parent: boolean }>`
    select exists (select from epic_issues join issues on issues.id = issue_id where epic_id = ${id} and not confidential) as issue,
           exists (select from epics child where child.parent_id = ${id} and not confidential) as child,
           exists (select from epics join epics parent on parent.id = epics.parent_id where epics.id = ${id} and parent.confidential) as parent`.execute(
    tx,
  );
  const open = rows[0]!;
  const reason = confidential
    ? (open.issue && 'Cannot make the epic confidential if it contains non-confidential issues') ||
      (open.child && 'Cannot make the epic confidential if it contains non-confidential child epics')
    : open.parent && 'A non-confidential epic cannot be assigned to a confidential parent epic';
  if (reason) throw invalid({ confidential: [reason] });
}

const lockedEpic = async (tx: Database, id: number) =>
  found(
    undefined,
    await tx
      .selectFrom('epics')
      .select([...plainColumns, 'state'])
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst(),
  );
type LockedEpic = Awaited<ReturnType<typeof lockedEpic>>;

/** The columns whose values change. */
function columnsFrom(before: LockedEpic, changes: EpicChanges, closer_id: number): Updateable<DB['epics']> {
  const columns: Updateable<DB['epics']> = {};
  const given = { ...columnsGiven(changes), state_event: changes.state_event };
  return Object.assign(columns, changedColumns(plainColumns, before, given, closer_id));
}

/** The fields of an epic whose changes have effects. Changes of inherited dates are recorded at their source. */
const stateFrom = (
  { title, description, confidential, ...row }: Pick<LockedEpic, 'title' | 'description' | 'confidential'> & FixedDates,
  state: string,
  label_ids: readonly number[],
): IssuableState => ({
  title,
  description,
  confidential,
  label_ids,
  state: state as IssuableState['state'],
  start_date: row.start_date_is_fixed ? row.start_date_fixed : null,
  due_date: row.due_date_is_fixed ? row.due_date_fixed : null,
});

/** Applies the requested changes to an epic, without quick actions. */
export async function changeEpic(
  tx: Database,
  acting: Acting,
  group: { id: number },
  epic_id: number,
  changes: EpicChanges,
): Promise<void> {
  const row = await lockedEpic(tx, epic_id);
  const borne = await labelsOf(tx, epicKind, epic_id);
  const labels = await labelsAfter(tx, { group_id: group.id }, borne, changes, { create: true, plan: acting.plan });
  const [before, after] = [borne.map(({ id }) => id), labels.map(({ id }) => id)];
  const columns = columnsFrom(row, changes, acting.caller.id);
  const changed = { ...row, ...columns } as LockedEpic;
  checkDates(changed);
  if (columns.confidential !== undefined) await checkConfidentiality(tx, epic_id, changed.confidential);
  const on = theEpic(epic_id);
  const hasOtherLabels = await writeLabels(tx, on, { before, after });
  if (hasOtherLabels || Object.keys(columns).length > 0 || changes.updated_at !== undefined) {
    await tx
      .updateTable('epics')
      .set({ ...columns, updated_at: changes.updated_at ?? sql`now()` })
      .where('id', '=', epic_id)
      .execute();
    const [from, to] = [stateFrom(row, row.state, before), stateFrom(changed, changed.state, after)];
    await recordEffects(tx, acting, { on, project_id: null, from, to, is_new: false, at: changes.updated_at });
  }
  if (changes.parent_id !== undefined) await changeParent(tx, acting, epic_id, changes.parent_id || null);
}
