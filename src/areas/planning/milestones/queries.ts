/** Queries for milestones. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong, momentInJson } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import type { MilestoneRow } from './present.ts';

const isExpired = sql<boolean>`coalesce(milestones.due_date < current_date, false)`;
const fullPath = sql<string>`coalesce(projects.full_path, namespaces.full_path)::text`;

/** Milestones with the columns of replies. */
export const milestoneRows = (db: Database) =>
  db
    .selectFrom('milestones')
    .leftJoin('projects', 'projects.id', 'milestones.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'milestones.group_id')
    .select([
      'milestones.id',
      'milestones.iid',
      'milestones.project_id',
      'milestones.group_id',
      'milestones.title',
      'milestones.description',
      'milestones.state',
      'milestones.start_date',
      'milestones.due_date',
      'milestones.created_at',
      'milestones.updated_at',
      isExpired.as('expired'),
      fullPath.as('full_path'),
    ]);

/**
 * A milestone as JSON, for statements on records with a milestone.
 * @param id the column with its ID, which may be null
 */
export const milestoneJson = (id: string): RawBuilder<MilestoneRow | null> => sql<MilestoneRow | null>`
  (select json_build_object(
            'id', milestones.id, 'iid', milestones.iid, 'project_id', milestones.project_id, 'group_id', milestones.group_id, 'title', milestones.title,
            'description', milestones.description, 'state', milestones.state, 'start_date', milestones.start_date, 'due_date', milestones.due_date,
            'created_at', ${momentInJson('milestones.created_at')}, 'updated_at', ${momentInJson('milestones.updated_at')},
            'expired', ${isExpired}, 'full_path', ${fullPath})
     from milestones left join projects on projects.id = milestones.project_id left join namespaces on namespaces.id = milestones.group_id
    where milestones.id = ${sql.ref(id)})`;

/** A predicate on rows of `milestones`: issues of the project may have it, because it belongs to the project or an ancestor group. */
export const isMilestoneFor = (project_id: number): RawBuilder<SqlBool> => sql`
  (milestones.project_id = ${project_id} or milestones.group_id = any((
    select parent.traversal_ids from projects join namespaces parent on parent.id = projects.namespace_id where projects.id = ${project_id})::bigint[]))`;

/** The milestones with these ids, by id, for the rows of a page. */
export async function milestonesById(db: Database, ids: readonly number[]): Promise<Map<number, MilestoneRow>> {
  if (ids.length === 0) return new Map();
  const rows = await milestoneRows(db)
    .where(isAmong('milestones.id', ids, 'bigint[]'))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** The milestone with this id, if issues of the project may have it. */
export const milestoneFor = (
  db: Database,
  { id }: { id: number },
  milestone_id: number,
): Promise<MilestoneRow | undefined> =>
  milestoneRows(db).where('milestones.id', '=', milestone_id).where(isMilestoneFor(id)).executeTakeFirst();

/** The milestone with this title, if issues of the project may have it; the project's own wins over one of a group. */
export const milestoneTitled = (
  db: Database,
  { id }: { id: number },
  title: string,
): Promise<MilestoneRow | undefined> =>
  milestoneRows(db)
    .where('milestones.title', '=', title)
    .where(isMilestoneFor(id))
    .orderBy(sql`milestones.project_id is null`)
    .orderBy('milestones.id')
    .limit(1)
    .executeTakeFirst();

/**
 * The milestone with this id in a project or group itself.
 * @throws ApiError 404
 */
export async function milestoneOf(
  db: Database,
  owner: { project_id: number } | { group_id: number },
  milestone_id: number,
): Promise<MilestoneRow> {
  const [column, id] = Object.entries(owner)[0] as ['project_id' | 'group_id', number];
  const query = milestoneRows(db).where('milestones.id', '=', milestone_id).where(`milestones.${column}`, '=', id);
  return found(undefined, await query.executeTakeFirst());
}
