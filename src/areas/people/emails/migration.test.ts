import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { connect } from '../../../db/connect.ts';
import { startEmbedded } from '../../../db/embedded.ts';
import { migrate } from '../../../db/migrate.ts';

test('the migration adds the addresses of existing users, with links for pending ones', async (t) => {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-emails-'));
  const { connectionString, stop } = await startEmbedded(data, { use: 'exclusive', durable: false });
  t.after(async () => {
    await stop();
    await rm(data, { recursive: true });
  });
  await migrate(connectionString, undefined, '0111_member_roles');
  const db = connect({ connectionString, max: 2 });
  t.after(() => db.destroy());
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
