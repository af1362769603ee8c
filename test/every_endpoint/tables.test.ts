/** What `npm run check` reads of statements (scripts/tables.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tablesIn } from '../support/tables.ts';

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
