import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addIssue } from '../../../../test/support/issues.ts';
import { world } from '../../../../test/support/world.ts';

test('administrators see counts of the whole server, estimated for large tables', async () => {
  const here = await world({});
  const { as, db } = here;
  await addIssue(here, { title: 'Prune' });
  const few = await as('admin').get('/application/statistics');
  assert.equal(few.status, 200);
  const { body } = few;
  assert.deepEqual([body.issues, body.projects, body.groups, body.forks, body.ssh_keys], ['1', '1', '1', '0', '0']);
  assert.ok(Number(body.users) >= 8 && Number(body.active_users) <= Number(body.users), JSON.stringify(body));

  await sql`
    insert into keys (user_id, title, key, fingerprint_sha256)
    select ${here.people.guest.id}, 'key', 'ssh-ed25519 ' || encode(int8send(number), 'base64'), number::text from generate_series(1, 12000) number`.execute(
    db,
  );
  await sql`analyze keys`.execute(db);
  const many = await as('admin').get('/application/statistics');
  assert.match(many.body.ssh_keys, /^1[0-4],\d{3}$/);
  for (const [persona, status] of [
    ['anonymous', 401],
    ['owner', 403],
  ] as const)
    assert.equal((await as(persona).get('/application/statistics')).status, status);
});
