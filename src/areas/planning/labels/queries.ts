/** Queries for labels. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind, PlanningParent } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { type LabelRow, labelColumns } from './present.ts';

/** The owner of labels: a project or a group, each with its ancestor groups. */
export type LabelParent = { project_id: number } | { group_id: number };

export const labelParent = ({ kind, id }: Pick<PlanningParent, 'kind' | 'id'>): LabelParent =>
  kind === 'project' ? { project_id: id } : { group_id: id };

/** A predicate on rows of `labels`: they belong to the project or group itself. */
export const isOwnOf = (parent: LabelParent): RawBuilder<SqlBool> =>
  'project_id' in parent ? sql`labels.project_id = ${parent.project_id}` : sql`labels.group_id = ${parent.group_id}`;

/** The ancestor namespaces, including the group itself. */
const groupsAbove = (parent: LabelParent) =>
  'project_id' in parent
    ? sql`(select parent.traversal_ids from projects join namespaces parent on parent.id = projects.namespace_id where projects.id = ${parent.project_id})`
    : sql`(select traversal_ids from namespaces where id = ${parent.group_id})`;

/** A predicate on rows of `labels`: items in the project or group may have the label. */
export const isAvailableIn = (parent: LabelParent): RawBuilder<SqlBool> =>
  'project_id' in parent
    ? sql`(labels.project_id = ${parent.project_id} or labels.group_id = any(${groupsAbove(parent)}::bigint[]))`
    : sql`labels.group_id = any(${groupsAbove(parent)}::bigint[])`;

/**
 * The labels with these titles that items in a project or group may have. If several have the same title, e.g. after a
 * transfer, the nearest wins: the project's own, then the label of the oldest group.
 * @param titles compared exactly
 */
export async function labelsTitled(db: Database, parent: LabelParent, titles: readonly string[]): Promise<LabelRow[]> {
  if (titles.length === 0) return [];
  const rows = await db
    .selectFrom('labels')
    .select(labelColumns)
    .where(isAmong('labels.title', titles, 'text[]'))
    .where(isAvailableIn(parent))
    .orderBy(sql`labels.project_id is null`)
    .orderBy('labels.id')
    .execute();
  const nearest = new Map<string, LabelRow>();
  for (const row of rows) if (!nearest.has(row.title)) nearest.set(row.title, row);
  return [...nearest.values()];
}

/** The labels with these ids, by id, for the rows of a page. */
export async function labelsById(db: Database, ids: readonly number[]): Promise<Map<number, LabelRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('labels')
    .select(labelColumns)
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * A column of a statement on issuables: the labels of each, ordered by title, as rows of the reply.
 * @param bearer the table or alias of the issuables
 */
export const borneLabels = (
  { labels, column }: Pick<IssuableKind, 'labels' | 'column'>,
  bearer: string,
): RawBuilder<LabelRow[]> => sql`
  (select coalesce(json_agg(json_build_object('id', labels.id, 'title', title, 'description', description, 'color', color, 'archived', archived,
                                              'project_id', project_id, 'group_id', group_id) order by title, labels.id), '[]')
     from ${sql.table(labels)} join labels on labels.id = label_id where ${sql.ref(column)} = ${sql.ref(`${bearer}.id`)})`;

/** The labels of an issuable, ordered by title. */
export async function labelsOf(
  db: Database,
  { labels, column }: Pick<IssuableKind, 'labels' | 'column'>,
  id: number,
): Promise<LabelRow[]> {
  const borne = db.selectFrom('labels').select(labelColumns).orderBy('title').orderBy('labels.id');
  return borne
    .where(sql<boolean>`id in (select label_id from ${sql.table(labels)} where ${sql.ref(column)} = ${id})`)
    .execute();
}
