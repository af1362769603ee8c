import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../test/support/world.ts';
import { ApiError } from './errors.ts';
import { paginateByKey } from './paginate.ts';

const text = 'Keyset pagination is not yet available for this type of request';

test('an order that a list cannot be read in by keyset is refused with 405', async () => {
  const { db, people } = await world();
  const query = db.selectFrom('users').select(['users.id', 'users.name']);
  const columns = { id: 'users.id' };
  const paging = { page: 1, per_page: 2 };
  const page = await paginateByKey(query, paging, { columns, order_by: 'id', sort: 'desc', id: 'users.id' });
  assert.equal(page.items[0]!.id, people.admin.id);
  assert.deepEqual(Object.keys(page.items[0]!), ['id', 'name']);
  assert.equal(page.has_more, true);

  for (const order_by of ['name', 'toString']) {
    await assert.rejects(paginateByKey(query, paging, { columns, order_by, sort: 'desc', id: 'users.id' }), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 405);
      assert.deepEqual(error.body, { message: text, error: text });
      return true;
    });
  }
});

test('rows of one value are told apart by their id, also across a page, and none is left when the last came', async () => {
  const { db, people } = await world();
  const ids = Object.values(people).map(({ id }) => id);
  await db.updateTable('users').set({ name: 'Same' }).where('id', 'in', ids).execute();
  const query = db.selectFrom('users').select('users.id').where('users.name', '=', 'Same');
  const order = { columns: { name: 'users.name' }, order_by: 'name', sort: 'asc', id: 'users.id' } as const;
  const seen: number[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 4; pages++) {
    const page = await paginateByKey(query, { page: 1, per_page: 2, ...(cursor === undefined ? {} : { cursor }) }, order);
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next?.cursor;
  }
  assert.deepEqual(seen, ids);
  assert.equal(cursor, undefined);
});
