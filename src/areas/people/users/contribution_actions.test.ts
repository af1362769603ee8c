import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { world } from '../../../../test/support/world.ts';
import { countOwned, handOver, moveContributions } from './contribution_actions.ts';

test('contributions of a user are moved to another one, and texts are deleted in a hard deletion', async () => {
  const { db, people } = await world();
  await sql`create table essays (id integer, author_id bigint references users, reader_id bigint references users)`.execute(
    db,
  );
  const [from, to] = [people.guest.id, people.planner.id];
  const essays = async () =>
    (await sql<object>`select id, author_id, reader_id from essays order by id`.execute(db)).rows;
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

  await sql`create table ballots (place integer, voter_id bigint references users, unique (place, voter_id))`.execute(
    db,
  );
  await sql`insert into ballots values (1, ${from}), (1, ${to}), (2, ${from})`.execute(db);
  await moveContributions(db, { from, to, hard: false });
  const { rows } = await sql<object>`select place, voter_id from ballots order by place`.execute(db);
  assert.deepEqual(
    rows,
    [1, 2].map((place) => ({ place, voter_id: to })),
  );
  await sql`drop table ballots`.execute(db);
});

test('all records of a user are moved to another user, except for those that they already have', async () => {
  const { db, people } = await world();
  await sql`create table votes (id integer, place integer, user_id bigint references users on delete cascade, is_old boolean)`.execute(
    db,
  );
  await sql`create unique index votes_key on votes (user_id, place) where not is_old`.execute(db);
  await sql`create table marks (place integer, user_id bigint references users on delete cascade, unique nulls not distinct (user_id, place))`.execute(
    db,
  );
  const [from, to] = [people.guest.id, people.planner.id];
  await sql`insert into marks values (null, ${from}), (null, ${to}), (1, ${from})`.execute(db);
  const except = [
    'emails',
    'namespaces',
    'personal_access_tokens',
    'members',
    'project_authorizations',
    'group_authorizations',
  ];
  await sql`insert into votes values (1, 1, ${from}, false), (2, 2, ${from}, false), (3, 1, ${to}, false), (4, 2, ${to}, true), (5, 3, null, false)`.execute(
    db,
  );
  assert.deepEqual(
    await countOwned(db, [from, to], except),
    new Map([
      [from, 4],
      [to, 3],
    ]),
  );
  await handOver(db, { from, to, except });
  const { rows } = await sql<{ id: number; user_id: number }>`select id, user_id from votes order by id`.execute(db);
  assert.deepEqual(
    rows.map(({ user_id }) => user_id),
    [from, to, to, to, null],
  );
  const marks = await sql<object>`select place, user_id from marks order by user_id = ${to}, place`.execute(db);
  assert.deepEqual(marks.rows, [
    { place: null, user_id: from },
    { place: 1, user_id: to },
    { place: null, user_id: to },
  ]);
  await sql`drop table marks`.execute(db);
  await sql`drop table votes`.execute(db);
});
