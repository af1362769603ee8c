/** Reads the colours of the labels of an item, which its reply does not have. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** A label as it is shown. */
export interface ColouredLabel {
  name: string;
  color: string;
}

const links = {
  issue: ['issue_labels', 'issue_id'],
  merge_request: ['merge_request_labels', 'merge_request_id'],
  epic: ['epic_labels', 'epic_id'],
} as const;

/** The labels of an item with their colours, in the order of their names. */
export async function colouredLabels(
  db: Database,
  kind: keyof typeof links,
  id: number,
): Promise<readonly ColouredLabel[]> {
  const [table, column] = links[kind];
  const { rows } = await sql<ColouredLabel>`
    select title as name, color from labels
     where id in (select label_id from ${sql.table(table)} where ${sql.ref(column)} = ${id})
     order by title`.execute(db);
  return rows;
}
