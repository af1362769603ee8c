/** Changing epics. */
import { sql, type Updateable } from 'kysely';
import type { Database, DB } from '../../../db/index.ts';
import { found, invalid } from '../../../http/index.ts';
import { colorFrom, type LabelsAsked, labelsAfter, labelsByEpic } from '../../planning/labels/index.ts';
import { type Acting, type EpicState, recordChange } from './effects.ts';
import { setParent } from './parent_actions.ts';
import { endsBeforeStart, type FixedDates } from './rules.ts';

/** What is to be different. What is left out stays; everything is the caller's to change, and readable. */
export interface EpicChanges extends LabelsAsked {
  title?: string | undefined;
  /** Its quick actions are done and taken out. */
  description?: string | null | undefined;
  color?: string | undefined;
  confidential?: boolean | undefined;
  start_date_is_fixed?: boolean | undefined;
  /** `YYYY-MM-DD` */
  start_date_fixed?: string | null | undefined;
  due_date_is_fixed?: boolean | undefined;
  due_date_fixed?: string | null | undefined;
  state_event?: 'close' | 'reopen' | undefined;
  parent_id?: number | null | undefined;
  /** ISO 8601; now where it is left out. */
  updated_at?: string | undefined;
}

const plainColumns = [
  ...(['title', 'description', 'color', 'confidential', 'start_date_is_fixed', 'start_date_fixed'] as const),
  ...(['due_date_is_fixed', 'due_date_fixed'] as const),
] as const;

/** The plain columns that are given, as they are stored. */
export function columnsGiven({ title, color, ...changes }: EpicChanges): Partial<Record<(typeof plainColumns)[number], unknown>> {
  const stored = { ...changes, title: title?.trim(), color: color === undefined ? undefined : colorFrom(color) };
  return Object.fromEntries(plainColumns.filter((name) => stored[name] !== undefined).map((name) => [name, stored[name]]));
}

/** @throws ApiError 400 */
export function checkDates(dates: FixedDates): void {
  if (endsBeforeStart(dates)) throw invalid({ due_date: ['must be greater than or equal to start date'] });
}

/** @throws ApiError 400 where the epic cannot have that parent */
export async function changeParent(tx: Database, { caller }: Acting, id: number, parent_id: number | null): Promise<void> {
  const refusal = await setParent(tx, caller, id, parent_id);
  if (refusal && refusal.status !== 409) throw invalid({ parent: [refusal.text] });
}

/** A confidential epic must not be found by way of what belongs to it, nor what is in it by way of the epic. */
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

export async function writeLabels(
  tx: Database,
  epic_id: number,
  before: readonly number[],
  after: readonly number[],
): Promise<boolean> {
  const added = after.filter((id) => !before.includes(id));
  const removed = before.filter((id) => !after.includes(id));
  if (added.length > 0)
    await tx
      .insertInto('epic_labels')
      .values(added.map((label_id) => ({ epic_id, label_id })))
      .execute();
  if (removed.length > 0)
    await tx.deleteFrom('epic_labels').where('epic_id', '=', epic_id).where('label_id', 'in', removed).execute();
  return added.length + removed.length > 0;
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
type Row = Awaited<ReturnType<typeof lockedEpic>>;

/** Columns that get other values than they have. */
function columnsFrom(before: Row, changes: EpicChanges, closer_id: number): Updateable<DB['epics']> {
  const columns: Updateable<DB['epics']> = Object.fromEntries(
    Object.entries(columnsGiven(changes)).filter(([name, value]) => value !== before[name as keyof Row]),
  );
  if (changes.state_event === 'close' && before.state === 'opened')
    Object.assign(columns, { state: 'closed', closed_at: sql`now()`, closed_by_id: closer_id });
  if (changes.state_event === 'reopen' && before.state === 'closed')
    Object.assign(columns, { state: 'opened', closed_at: null, closed_by_id: null });
  return columns;
}

/** Changes an epic by what was asked for in so many words, without quick actions. */
export async function changeEpic(
  tx: Database,
  acting: Acting,
  group: { id: number },
  epic_id: number,
  changes: EpicChanges,
): Promise<void> {
  const row = await lockedEpic(tx, epic_id);
  const borne = (await labelsByEpic(tx, [epic_id])).get(epic_id) ?? [];
  const labels = await labelsAfter(tx, { group_id: group.id }, borne, changes, { create: true, plan: acting.plan });
  const [before, after] = [borne.map(({ id }) => id), labels.map(({ id }) => id)];
  const columns = columnsFrom(row, changes, acting.caller.id);
  const to = { ...row, ...columns, label_ids: after } as EpicState;
  checkDates(to);
  if (columns.confidential !== undefined) await checkConfidentiality(tx, epic_id, to.confidential);
  const hasOtherLabels = await writeLabels(tx, epic_id, before, after);
  if (hasOtherLabels || Object.keys(columns).length > 0 || changes.updated_at !== undefined) {
    await tx
      .updateTable('epics')
      .set({ ...columns, updated_at: changes.updated_at ?? sql`now()` })
      .where('id', '=', epic_id)
      .execute();
    await recordChange(tx, acting, { epic_id, from: { ...row, label_ids: before }, to, at: changes.updated_at });
  }
  if (changes.parent_id !== undefined) await changeParent(tx, acting, epic_id, changes.parent_id || null);
}
