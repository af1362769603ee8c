/** Complete changes to labels. */
import { type Database, isAmong, isUniqueViolation, stamped } from '../../../db/index.ts';
import { conflict, invalid } from '../../../http/index.ts';
import { colorFrom, colorReasons } from './color_rules.ts';
import { type LabelRow, labelColumns } from './present.ts';
import { isOwnOf, type LabelParent, labelsTitled } from './queries.ts';
import { descriptionReasons, titleReasons } from './rules.ts';

/** The color of a label that is created by assigning its title. */
export const impliedColor = '#6699cc';

/**
 * The labels with these titles that items in a project or group may have.
 * @param tx the transaction of the change that sets them
 * @param titles compared exactly, after blanks around them are cut
 * @param create whether missing labels are added to the project or group itself; invalid titles are omitted
 * @returns labels by title, in the order of `titles`
 */
export async function labelsFor(
  tx: Database,
  parent: LabelParent,
  titles: readonly string[],
  { create }: { create: boolean },
): Promise<Map<string, LabelRow>> {
  const wanted = [...new Set(titles.map((title) => title.trim()))].filter((title) => titleReasons(title).length === 0);
  const known = new Map((await labelsTitled(tx, parent, wanted)).map((label) => [label.title, label]));
  const missing = wanted.filter((title) => !known.has(title));
  if (create && missing.length > 0)
    for (const label of await addImplied(tx, parent, missing)) known.set(label.title, label);
  return new Map(wanted.flatMap((title) => (known.has(title) ? [[title, known.get(title)!] as const] : [])));
}

/** Adds labels with these titles to the project or group itself. Labels that another request adds concurrently are used instead. */
async function addImplied(tx: Database, parent: LabelParent, titles: readonly string[]): Promise<LabelRow[]> {
  await tx
    .insertInto('labels')
    // In the order of titles, so that concurrent requests cannot deadlock.
    .values([...titles].sort().map((title) => ({ ...parent, title, color: impliedColor })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return tx
    .selectFrom('labels')
    .select(labelColumns)
    .where(isOwnOf(parent))
    .where(isAmong('title', titles, 'text[]'))
    .execute();
}

/** The fields of a label in a request; omitted ones do not change. */
export interface LabelChanges {
  title?: string | undefined;
  color?: string | undefined;
  description?: string | null | undefined;
  archived?: boolean | undefined;
  /** Only for project labels; null removes it. */
  priority?: number | null | undefined;
}

/**
 * The columns to write.
 * @throws ApiError 400 with the reasons by field
 */
function columnsOf({ title, color, description, archived }: LabelChanges) {
  const reasons = {
    title: title === undefined ? [] : titleReasons(title.trim()),
    color: color === undefined ? [] : colorReasons(color),
    description: descriptionReasons(description ?? ''),
  };
  const wrong = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong));
  return { title: title?.trim(), color: color === undefined ? undefined : colorFrom(color), description, archived };
}

async function setPriority(
  tx: Database,
  label_id: number,
  parent: LabelParent,
  priority: number | null,
): Promise<void> {
  if (!('project_id' in parent)) return;
  const row = { label_id, project_id: parent.project_id };
  if (priority === null) {
    await tx
      .deleteFrom('label_priorities')
      .where('label_id', '=', label_id)
      .where('project_id', '=', row.project_id)
      .execute();
    return;
  }
  await tx
    .insertInto('label_priorities')
    .values({ ...row, priority })
    .onConflict((conflict) => conflict.columns(['label_id', 'project_id']).doUpdateSet({ priority }))
    .execute();
}

const exists = () => conflict('Label already exists');

/**
 * Adds a label to a project or group.
 * @returns its id
 * @throws ApiError 400 with the reasons by field, 409 when the project or group or an ancestor has a label with the title
 */
export async function addLabel(
  tx: Database,
  parent: LabelParent,
  label: LabelChanges & { title: string; color: string },
): Promise<number> {
  const columns = columnsOf(label);
  const title = columns.title!;
  if ((await labelsTitled(tx, parent, [title])).length > 0) throw exists();
  const row = await tx
    .insertInto('labels')
    .values({ ...parent, ...columns, title, color: columns.color! })
    .onConflict((taken) => taken.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw exists();
  if (label.priority !== undefined && label.priority !== null) await setPriority(tx, row.id, parent, label.priority);
  return row.id;
}

/**
 * Changes a label of the project or group itself.
 * @throws ApiError 400 with the reasons by field
 */
export async function changeLabel(
  tx: Database,
  parent: LabelParent,
  label: LabelRow,
  changes: LabelChanges,
): Promise<void> {
  const columns = columnsOf(changes);
  if (columns.title !== undefined && columns.title !== label.title) await refuseTaken(tx, parent, columns.title);
  try {
    await tx.updateTable('labels').set(stamped(columns)).where('id', '=', label.id).execute();
  } catch (error) {
    throw isUniqueViolation(error) ? taken() : error;
  }
  if (changes.priority !== undefined) await setPriority(tx, label.id, parent, changes.priority);
}

const taken = () => invalid({ title: ['has already been taken'] });

async function refuseTaken(tx: Database, parent: LabelParent, title: string): Promise<void> {
  const [label] = await labelsTitled(tx, parent, [title]);
  if (!label) return;
  const isOwn = 'project_id' in parent ? label.project_id === parent.project_id : label.group_id === parent.group_id;
  if (isOwn) throw taken();
  const group = await tx.selectFrom('namespaces').select('name').where('id', '=', label.group_id!).executeTakeFirst();
  throw invalid({ title: [`already exists at group level for ${group?.name}. Please choose another one.`] });
}

/**
 * Subscribes a user to a label, or unsubscribes them.
 * @returns whether this changed anything
 */
export async function subscribeToLabel(
  tx: Database,
  { user_id, label_id, subscribed }: { user_id: number; label_id: number; subscribed: boolean },
): Promise<boolean> {
  if (!subscribed) {
    const removed = await tx
      .deleteFrom('subscriptions')
      .where('user_id', '=', user_id)
      .where('label_id', '=', label_id)
      .returning('id')
      .executeTakeFirst();
    return removed !== undefined;
  }
  const added = await tx
    .insertInto('subscriptions')
    .values({ user_id, label_id, subscribed })
    .onConflict((known) => known.constraint('subscriptions_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}
