import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { emptyDatabase } from '../../../../test/support/database.ts';
import { migrate } from '../../../db/migrate.ts';

test('the migration adds the addresses of existing users, with links for pending ones', async () => {
  const { db, connectionString } = await emptyDatabase();
  await migrate(connectionString, { up_to: '0111_member_roles' });
  await sql`insert into users (username, name, email, confirmed_at, unconfirmed_email)
            values ('ada', 'Ada', 'Ada@example.com', now(), null), ('eve', 'Eve', 'eve@example.com', null, 'new@example.com')`.execute(
    db,
  );
  await migrate(connectionString);
  const { rows } =
    await sql`select email, is_primary, emails.confirmed_at = users.confirmed_at as same from emails join users using (email) order by 1`.execute(
      db,
    );
  assert.deepEqual(rows, [
    { email: 'ada@example.com', is_primary: true, same: true },
    { email: 'eve@example.com', is_primary: true, same: null },
  ]);
  const waiting =
    await sql`select username, unconfirmed_email_seed is not null as has_link from users where unconfirmed_email is not null`.execute(
      db,
    );
  assert.deepEqual(waiting.rows, [{ username: 'eve', has_link: true }]);
});

test('of several entries for one address the migration keeps one, and every account has a primary address', async () => {
  const { db, connectionString } = await emptyDatabase();
  await migrate(connectionString, { up_to: '0465_costly_files' });
  // Each user has an address of their name, except as given.
  const add = async (
    username: string,
    user_type: string,
    primary: string,
    is_confirmed: boolean,
    wanted: string | null = null,
  ) => {
    const { rows } = await sql<{ id: number }>`
      insert into users (username, name, email, user_type, confirmed_at, unconfirmed_email, unconfirmed_email_seed, unconfirmed_email_sent_at)
      values (${username}, 'x', ${primary}, ${user_type}, ${is_confirmed ? sql`now()` : null}, ${wanted},
              ${wanted && sql`gen_random_uuid()`}, ${wanted && sql`now()`})
      returning id`.execute(db);
    const { id } = rows[0]!;
    await claim(id, primary, is_confirmed, true);
    return id;
  };
  const claim = (user_id: number, email: string, is_confirmed: boolean, is_primary = false) =>
    sql`insert into emails (user_id, email, confirmed_at, is_primary)
        values (${user_id}, ${email}, ${is_confirmed ? sql`now()` : null}, ${is_primary})`.execute(db);
  const robot = await add('robot', 'service_account', 'Shared@Example.com', false);
  await claim(robot, 'robot@noreply.example.com', true);
  const ada = await add('ada', 'human', 'ADA@example.com', true);
  await claim(ada, 'shared@example.com', false);
  const late = await add('late', 'human', 'SHARED@example.com', false);
  const lost = await add('lost', 'human', 'lost@example.com', false);
  await claim(ada, 'lost@example.com', true);
  await add('first', 'human', 'first@example.com', true, 'Wanted@example.com');
  await add('second', 'human', 'second@example.com', true, 'wanted@example.com');
  await add('third', 'human', 'third@example.com', true, 'shared@example.com');
  await migrate(connectionString);

  const { rows: kept } = await sql<{ user_id: number; email: string; is_primary: boolean; confirmed: boolean }>`
    select user_id, email, is_primary, confirmed_at is not null as confirmed from emails
     where user_id = any(${[robot, ada, late, lost]}) order by user_id, email`.execute(db);
  assert.deepEqual(
    kept.map(({ user_id, email, is_primary, confirmed }) => [user_id, email, is_primary, confirmed]),
    [
      [robot, 'robot@noreply.example.com', true, true],
      [ada, 'ada@example.com', true, true],
      [ada, 'lost@example.com', false, true],
      [late, 'shared@example.com', true, false],
      [lost, `user_${lost}@noreply.invalid`, true, false],
    ],
  );
  const { rows: users } = await sql<{ username: string; same: boolean; unconfirmed_email: string | null }>`
    select username, users.email::text = emails.email::text as same, unconfirmed_email
      from users join emails on emails.user_id = users.id and is_primary order by users.id`.execute(db);
  assert.ok(users.every(({ same }) => same));
  assert.deepEqual(
    users.flatMap(({ username, unconfirmed_email }) =>
      unconfirmed_email === null ? [] : [[username, unconfirmed_email]],
    ),
    [['first', 'wanted@example.com']],
  );
});
