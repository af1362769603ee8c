/** What `npm run check` reads of statements (scripts/tables.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachable } from '../support/imports.ts';
import { foreignTables, tablesIn } from '../support/tables.ts';

const named = (code: string) => [...tablesIn(code)].sort();

test('tables are found in SQL, also where templates are in each other', () => {
  assert.deepEqual(
    named(`const rows = sql<Row>\`select \${when ? sql\`(select max(id) from epics)\` : sql\`null\`} from issues join only notes on true
             where exists (select from hooks) and title = 'from todos'\`;
           const { id } = { id: { of: 1 } };
           return sql\`delete from labels using milestones where \${id}\`;`),
    ['epics', 'hooks', 'issues', 'labels', 'milestones', 'notes'],
  );
  assert.deepEqual(named("const isOpen = sql`merge_requests.state = 'opened'`;"), ['merge_requests']);
});

test('tables are found in the methods of Kysely, in types and in descriptions', () => {
  assert.deepEqual(
    named(`db.selectFrom('issues as other').innerJoin('notes', 'notes.issue_id', 'other.id').where('labels.title', '=', title);
           type Row = Selectable<DB['milestones']>;
           const epic = { table: 'epics', ids: idsOf('issue_labels') };`),
    ['epics', 'issue_labels', 'issues', 'labels', 'milestones', 'notes'],
  );
});

test('comments, texts and expressions name no tables', () => {
  assert.deepEqual(
    named(`/** Reads from issues. */
           // \`from issues\`
           const summary = \`Move epics from issues \${count / 2}\`;
           const isMatch = /from \`issues/.test(text) && isUsable(caller, 'merge_requests') && 'issues' in row;`),
    [],
  );
});

test('a statement may name the tables of districts to which arrows lead, directly or over others', async () => {
  const reached = await reachable();
  const code =
    'const rows = sql`select from wikis join projects on true join uploads on true join labels on true join hooks on true`;';
  assert.deepEqual(foreignTables(code, 'geo', reached), ['labels', 'uploads'], 'beside, and not only above');
  assert.deepEqual(foreignTables(code, 'work', reached), []);
  assert.deepEqual(foreignTables(code, 'planning', reached), ['uploads', 'wikis']);
});
