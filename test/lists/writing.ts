/** Writes rows of lists to their tables: the API would take too long for so many. */
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';
import type { Kind, Row } from './rows.ts';

/**
 * Inserts rows.
 * @returns their ids, in order, if the table has any
 */
export async function insert(db: Database, table: string, rows: readonly object[]): Promise<number[]> {
  if (rows.length === 0) return [];
  const columns = sql.join(Object.keys(rows[0]!).map((name) => sql.ref(name)));
  const written = await sql<{ id: number }>`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb) returning *`.execute(
    db,
  );
  return written.rows.map(({ id }) => id);
}

/** The tables of a kind, and the columns that only it has. */
const tables: Record<Kind, { rows: string; own(row: Row): object }> = {
  issue: {
    rows: 'issues',
    own: ({ place, milestone, iteration, ...row }) => ({
      project_id: place.id,
      confidential: row.confidential,
      milestone_id: milestone?.id ?? null,
      iteration_id: iteration?.id ?? null,
      due_date: row.due_date,
      weight: row.weight,
      relative_position: row.relative_position,
      closed_by_id: row.closed_by_id,
      health_status: row.health_status,
      issue_type: row.issue_type,
    }),
  },
  merge_request: {
    rows: 'merge_requests',
    own: ({ place, milestone, source, ...row }) => ({
      project_id: place.id,
      milestone_id: milestone?.id ?? null,
      source_project_id: source?.id ?? null,
      source_branch: row.source_branch,
      target_branch: row.target_branch,
      merge_user_id: row.merge_user_id,
      merged_at: row.merged_at,
    }),
  },
  epic: {
    rows: 'epics',
    own: ({ place, confidential }) => ({ group_id: place.id, confidential }),
  },
};

/** The tables of the people of a row. */
const people: Record<Kind, Record<string, (row: Row) => readonly number[]>> = {
  epic: {},
  issue: { issue_assignees: ({ assignees }) => assignees },
  merge_request: {
    merge_request_assignees: ({ assignees }) => assignees,
    merge_request_reviewers: ({ reviewers }) => reviewers,
    merge_request_approvals: ({ approvals }) => approvals,
  },
};

/** Inserts rows with their labels, reactions and people. They get their ids. */
export async function write(db: Database, kind: Kind, rows: readonly Row[]): Promise<void> {
  const { rows: table, own } = tables[kind];
  const ids = await insert(
    db,
    table,
    rows.map((row) => ({
      iid: row.iid,
      title: row.title,
      description: row.description,
      state: row.state,
      author_id: row.author_id,
      created_at: row.created_at,
      updated_at: row.updated_at,
      ...own(row),
    })),
  );
  for (const [index, id] of ids.entries()) rows[index]!.id = id;
  const column = `${kind}_id`;
  const each = <T extends object>(valuesOf: (row: Row) => readonly T[]) =>
    rows.flatMap((row) => valuesOf(row).map((values) => ({ [column]: row.id, ...values })));
  await insert(
    db,
    `${kind}_labels`,
    each(({ labels }) => labels.map(({ id }) => ({ label_id: id }))),
  );
  await insert(
    db,
    'award_emoji',
    each(({ reactions }) => reactions),
  );
  for (const [name, usersOf] of Object.entries(people[kind]))
    await insert(
      db,
      name,
      each((row) => usersOf(row).map((user_id) => ({ user_id }))),
    );
}
