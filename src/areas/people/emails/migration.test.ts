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
    { email: 'Ada@example.com', is_primary: true, same: true },
    { email: 'eve@example.com', is_primary: true, same: null },
  ]);
  const waiting =
    await sql`select username, unconfirmed_email_seed is not null as has_link from users where unconfirmed_email is not null`.execute(
      db,
    );
  assert.deepEqual(waiting.rows, [{ username: 'eve', has_link: true }]);
});
