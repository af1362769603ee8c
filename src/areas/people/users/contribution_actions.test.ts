import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { world } from '../../../../test/support/world.ts';
import { moveContributions } from './contribution_actions.ts';

test('contributions of a user are moved to another one, and texts are deleted in a hard deletion', async () => {
  const { db, people } = await world();
  await sql`create table essays (id integer, author_id bigint references users, reader_id bigint references users)`.execute(db);
  const [from, to] = [people.guest.id, people.planner.id];
  const essays = async () => (await sql<object>`select id, author_id, reader_id from essays order by id`.execute(db)).rows;
  await sql`insert into essays values (1, ${from}, ${to}), (2, ${to}, ${from}), (3, ${from}, ${from})`.execute(db);
  await moveContributions(db, { from, to, hard: false });
  assert.deepEqual(
    await essays(),
    [1, 2, 3].map((id) => ({ id, author_id: to, reader_id: to })),
  );

  await sql`update essays set author_id = ${from} where id = 1`.execute(db);
  await sql`update essays set reader_id = ${from} where id = 2`.execute(db);
  await moveContributions(db, { from, to, hard: true });
  assert.deepEqual(
    await essays(),
    [2, 3].map((id) => ({ id, author_id: to, reader_id: to })),
  );
  await sql`drop table essays`.execute(db);
});
