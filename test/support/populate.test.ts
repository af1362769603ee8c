/** Worlds make their people with less work than the product does; these are the same people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type World, world } from './world.ts';

/** Everything that is stored of a user, with ids, names and times replaced by what kind of value they are. */
async function storedOf({ db }: World, user: { id: number; username: string }) {
  const { rows } = await sql<{ place: string; row: Record<string, unknown> }>`
    select 'users' as place, to_jsonb(users) as row from users where id = ${user.id}
    union all select 'emails', to_jsonb(emails) from emails where user_id = ${user.id}
    union all select 'namespaces', to_jsonb(namespaces) from namespaces where owner_id = ${user.id}
    union all select 'personal_access_tokens', to_jsonb(tokens) from personal_access_tokens tokens where user_id = ${user.id}`.execute(
    db,
  );
  const kindOf = (name: string, value: unknown) => {
    if (value === null || typeof value === 'boolean') return value;
    if (/(^|_)id$|^seed$/.test(name)) return 'an id';
    if (name === 'traversal_ids') return (value as unknown[]).length;
    if (name === 'token_digest') return String(value).length;
    if (/^\d{4}-\d\d-\d\dT/.test(String(value))) return 'a time';
    const names = [user.username, user.username.replaceAll('-', ' ')];
    return typeof value === 'string'
      ? names.reduce((text, each, index) => text.replaceAll(each, `name ${index}`), value)
      : value;
  };
  return rows.map(({ place, row }) => [
    place,
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, kindOf(name, value)])),
  ]);
}

test('the users of a world are stored like those that the server creates', async () => {
  const here = await world();
  assert.deepEqual(await storedOf(here, here.people.outsider), await storedOf(here, await here.person()));
  assert.deepEqual(await storedOf(here, here.people.admin), await storedOf(here, await here.person({ admin: true })));
  assert.equal((await storedOf(here, here.people.outsider)).length, 4);
});
