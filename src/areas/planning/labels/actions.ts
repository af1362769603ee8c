/** Complete changes of labels. */
import { sql } from 'kysely';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { conflict, invalid } from '../../../http/index.ts';
import { colorFrom, colorReasons } from './color_rules.ts';
import { type LabelRow, labelColumns } from './present.ts';
import { isOwnOf, type LabelPlace, labelsTitled } from './queries.ts';
import { titleReasons } from './rules.ts';

/** The colour of a label that comes to be because an issue bears it. */
const impliedColor = '#6699cc';

/**
 * The labels of these titles that things in a place may bear.
 * @param tx the transaction of the change that sets them
 * @param titles compared exactly, after blanks around them are cut
 * @param create whether those that are missing are added to the place itself; a title that no label can have is left out
 * @returns labels by title, in the order of `titles`
 */
export async function labelsFor(
  tx: Database,
  place: LabelPlace,
  titles: readonly string[],
  { create }: { create: boolean },
): Promise<Map<string, LabelRow>> {
  const wanted = [...new Set(titles.map((title) => title.trim()))].filter((title) => titleReasons(title).length === 0);
  const known = new Map((await labelsTitled(tx, place, wanted)).map((label) => [label.title, label]));
  const missing = wanted.filter((title) => !known.has(title));
  if (create && missing.length > 0) for (const label of await addImplied(tx, place, missing)) known.set(label.title, label);
  return new Map(wanted.flatMap((title) => (known.has(title) ? [[title, known.get(title)!] as const] : [])));
}

/** Adds labels of these titles to the place itself. Somebody else may do so at the same time: then his are taken. */
async function addImplied(tx: Database, place: LabelPlace, titles: readonly string[]): Promise<LabelRow[]> {
  await tx
    .insertInto('labels')
    // In the order of titles, so that two who add the same ones do not wait for each other.
    .values([...titles].sort().map((title) => ({ ...place, title, color: impliedColor })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return tx
    .selectFrom('labels')
    .select(labelColumns)
    .where(isOwnOf(place))
    .where(sql<boolean>`title = any(${titles}::text[])`)
    .execute();
}

/** A label as it is written; what is left out stays. */
export interface LabelChanges {
  title?: string | undefined;
  color?: string | undefined;
  description?: string | null | undefined;
  archived?: boolean | undefined;
  /** Of a project; null takes it away. */
  priority?: number | null | undefined;
}

const maximumDescription = 512 * 1024;

/**
 * The columns of what is written.
 * @throws ApiError 400 with the reasons by field
 */
function columnsOf({ title, color, description, archived }: LabelChanges) {
  const reasons = {
    title: title === undefined ? [] : titleReasons(title.trim()),
    color: color === undefined ? [] : colorReasons(color),
    description:
      (description?.length ?? 0) > maximumDescription ? [`is too long (maximum is ${maximumDescription} characters)`] : [],
  };
  const wrong = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong));
  return { title: title?.trim(), color: color === undefined ? undefined : colorFrom(color), description, archived };
}

async function setPriority(tx: Database, label_id: number, place: LabelPlace, priority: number | null): Promise<void> {
  if (!('project_id' in place)) return;
  const row = { label_id, project_id: place.project_id };
  if (priority === null) {
    await tx.deleteFrom('label_priorities').where('label_id', '=', label_id).where('project_id', '=', row.project_id).execute();
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
 * Adds a label to a place.
 * @returns its id
 * @throws ApiError 400 with the reasons by field, 409 where the place or a group above it has one of the title
 */
export async function addLabel(
  tx: Database,
  place: LabelPlace,
  label: LabelChanges & { title: string; color: string },
): Promise<number> {
  const columns = columnsOf(label);
  const title = columns.title!;
  if ((await labelsTitled(tx, place, [title])).length > 0) throw exists();
  const row = await tx
    .insertInto('labels')
    .values({ ...place, ...columns, title, color: columns.color! })
    .onConflict((taken) => taken.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw exists();
  if (label.priority !== undefined && label.priority !== null) await setPriority(tx, row.id, place, label.priority);
  return row.id;
}

/**
 * Changes a label of the place itself.
 * @throws ApiError 400 with the reasons by field
 */
export async function changeLabel(tx: Database, place: LabelPlace, label: LabelRow, changes: LabelChanges): Promise<void> {
  const columns = columnsOf(changes);
  if (columns.title !== undefined && columns.title !== label.title) await refuseTaken(tx, place, columns.title);
  try {
    await tx
      .updateTable('labels')
      .set({ ...columns, updated_at: sql`now()` })
      .where('id', '=', label.id)
      .execute();
  } catch (error) {
    throw isUniqueViolation(error) ? taken() : error;
  }
  if (changes.priority !== undefined) await setPriority(tx, label.id, place, changes.priority);
}

const taken = () => invalid({ title: ['has already been taken'] });

async function refuseTaken(tx: Database, place: LabelPlace, title: string): Promise<void> {
  const [label] = await labelsTitled(tx, place, [title]);
  if (!label) return;
  const isOwn = 'project_id' in place ? label.project_id === place.project_id : label.group_id === place.group_id;
  if (isOwn) throw taken();
  const group = await tx.selectFrom('namespaces').select('name').where('id', '=', label.group_id!).executeTakeFirst();
  throw invalid({ title: [`already exists at group level for ${group?.name}. Please choose another one.`] });
}

/**
 * Notes whether a user wants to hear of what bears a label.
 * @returns whether that was otherwise before
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
