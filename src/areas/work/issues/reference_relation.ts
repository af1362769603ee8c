/** Exports and imports references to the issue that an issue was moved to or duplicates (docs/reference/relations_export.md#issues). */
import { type RawBuilder, sql } from 'kysely';
import { issueKind, rowsWithPlaces } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Arrival, isText, late, type Waiting } from '../../../relations/index.ts';

/** The full reference of an issue that the reader may see. */
const referenceTo = (column: string, isVisible: RawBuilder<unknown>) => sql`(
  select named.reference from (select ${sql.ref(`issues.${column}`)} as id) other, lateral (
    select projects.full_path || '#' || issues.iid as reference from ${rowsWithPlaces(issueKind)} where issues.id = other.id and ${isVisible}) named)`;

/** The migrated issues with these full references. */
async function findIssues(tx: Database, { path }: Arrival, waiting: readonly Waiting[]): Promise<Map<number, number>> {
  const asked = waiting.flatMap(({ id, wanted }) => {
    const [, source_path, iid] = (isText(wanted) && /^(.{1,900})#(\d{1,9})$/.exec(wanted)) || [];
    const here = source_path === undefined ? undefined : path(source_path);
    return here === undefined ? [] : [{ id, path: here, iid: Number(iid) }];
  });
  const { rows } = await sql<{ id: number; issue_id: number }>`
    select asked.id, issues.id as issue_id
      from json_to_recordset(${JSON.stringify(asked)}::json) asked(id bigint, path citext, iid integer)
           join projects on projects.full_path = asked.path
           join issues on issues.project_id = projects.id and issues.iid = asked.iid and issues.id <> asked.id`.execute(
    tx,
  );
  return new Map(rows.map(({ id, issue_id }) => [id, issue_id]));
}

/** A member with the full reference of an issue. */
export const issueReference = (column: 'moved_to_id' | 'duplicated_to_id') =>
  late(column, ({ caller }) => referenceTo(column, issueKind.isVisible(caller)), findIssues);
