/** Queries for iterations. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import type { IterationRow } from './present.ts';

/** Iterations with the columns of replies. */
export const iterationRows = (db: Database) =>
  db
    .selectFrom('iterations')
    .innerJoin('namespaces', 'namespaces.id', 'iterations.group_id')
    .select([
      'iterations.id',
      'iterations.iid',
      'iterations.sequence',
      'iterations.cadence_id',
      'iterations.group_id',
      'iterations.title',
      'iterations.description',
      'iterations.state',
      'iterations.created_at',
      'iterations.updated_at',
      'iterations.start_date',
      'iterations.due_date',
      sql<string>`namespaces.full_path::text`.as('full_path'),
    ]);

/** The ancestor groups of a project. */
const groupsAbove = (project_id: number) => sql`
  (select parent.traversal_ids from projects join namespaces parent on parent.id = projects.namespace_id where projects.id = ${project_id})::bigint[]`;

/** A predicate on rows of `iterations`: the issues of the project may be in it. */
export const isIterationFor = (project_id: number): RawBuilder<SqlBool> =>
  sql`(iterations.group_id = any(${groupsAbove(project_id)}))`;

/** The iterations with these ids, by id, for the rows of a page. */
export async function iterationsById(db: Database, ids: readonly number[]): Promise<Map<number, IterationRow>> {
  if (ids.length === 0) return new Map();
  const rows = await iterationRows(db)
    .where(isAmong('iterations.id', ids, 'bigint[]'))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** The iteration of this id, if the issues of the project may be in it. */
export const iterationFor = (
  db: Database,
  { id }: { id: number },
  iteration_id: number,
): Promise<IterationRow | undefined> =>
  iterationRows(db).where('iterations.id', '=', iteration_id).where(isIterationFor(id)).executeTakeFirst();

/**
 * The current iteration, or else the next, if the ancestor groups of the project have exactly one such cadence; with
 * several it is ambiguous.
 * @param cadence_id restricts it to one cadence
 */
export async function iterationAt(
  db: Database,
  { id }: { id: number },
  when: 'current' | 'next',
  cadence_id?: number,
): Promise<IterationRow | undefined> {
  const rows = await iterationRows(db)
    .distinctOn('iterations.cadence_id')
    .where(isIterationFor(id))
    .where('iterations.state', '=', when === 'current' ? 2 : 1)
    .$if(cadence_id !== undefined, (query) => query.where('iterations.cadence_id', '=', cadence_id!))
    .orderBy('iterations.cadence_id')
    .orderBy('iterations.start_date')
    .limit(2)
    .execute();
  return rows.length === 1 ? rows[0] : undefined;
}
