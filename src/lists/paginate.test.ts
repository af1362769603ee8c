import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { world } from '../../test/support/world.ts';
import type { Database } from '../db/index.ts';
import { ApiError } from '../http/index.ts';
import { idsOnPage, pageOfArray, paginate, paginateByKey } from './index.ts';

const text = 'Keyset pagination is not yet available for this type of request';

test('an order without keyset pagination is refused with 405', async () => {
  const { db, people } = await world();
  const query = db.selectFrom('users').select(['users.id', 'users.name']);
  const columns = { id: 'users.id' };
  const paging = { page: 1, per_page: 2 };
  const page = await paginateByKey(db, query, paging, { columns, order_by: 'id', sort: 'desc', id: 'users.id' });
  assert.equal(page.items[0]!.id, people.admin.id);
  assert.deepEqual(Object.keys(page.items[0]!), ['id', 'name']);
  assert.equal(page.has_more, true);

  for (const order_by of ['name', 'toString']) {
    await assert.rejects(
      paginateByKey(db, query, paging, { columns, order_by, sort: 'desc', id: 'users.id' }),
      (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, 405);
        assert.deepEqual(error.body, { message: text, error: text });
        return true;
      },
    );
  }
});

test('rows with equal values are ordered by id, also across pages, and the last page has no next one', async () => {
  const { db, people } = await world();
  const ids = Object.values(people).map(({ id }) => id);
  await db.updateTable('users').set({ name: 'Same' }).where('id', 'in', ids).execute();
  const query = db.selectFrom('users').select('users.id').where('users.name', '=', 'Same');
  const order = { columns: { name: 'users.name' }, order_by: 'name', sort: 'asc', id: 'users.id' } as const;
  const seen: number[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 4; pages++) {
    const page = await paginateByKey(
      db,
      query,
      { page: 1, per_page: 2, ...(cursor === undefined ? {} : { cursor }) },
      order,
    );
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next?.cursor;
  }
  assert.deepEqual(seen, ids);
  assert.equal(cursor, undefined);
});

test('computed columns are read for the rows of a page only, not for those before it', async () => {
  const { db, people } = await world();
  await sql`create sequence computed`.execute(db);
  const computed = async () =>
    (
      await sql<{
        count: number;
      }>`select case when is_called then last_value else 0 end as count from computed`.execute(db)
    ).rows[0]!.count;
  const ids = Object.values(people).map(({ id }) => id);
  const query = db
    .selectFrom('users')
    .select(['users.id', sql<number>`nextval('computed')`.as('number')])
    .where('users.id', 'in', ids)
    .orderBy('users.id', 'desc');
  const page = await paginate(db, query, { page: 3, per_page: 2 });
  assert.deepEqual(
    page.items.map(({ id }) => id),
    ids.toSorted((a, b) => b - a).slice(4, 6),
  );
  assert.equal(page.has_more, ids.length > 6);
  assert.equal(page.total, ids.length);
  assert.equal(await computed(), 2);

  const order = { columns: { id: 'users.id' }, order_by: 'id', sort: 'asc', id: 'users.id' } as const;
  const byKey = await paginateByKey(db, query.clearOrderBy(), { page: 1, per_page: 2 }, order);
  assert.deepEqual(
    byKey.items.map(({ id, number }) => [id, number]),
    ids
      .toSorted((a, b) => a - b)
      .slice(0, 2)
      .map((id, index) => [id, index + 3]),
  );
});

test('a list in parts is read across their borders, and counted as a whole', async () => {
  const { db, people } = await world();
  const ids = Object.values(people).map(({ id }) => id);
  const query = db.selectFrom('users').select('users.id').where('users.id', 'in', ids);
  const [first, ...others] = ids.toSorted((a, b) => a - b);
  const parts = [
    query.where('users.id', '<>', first!).orderBy('users.id', 'desc'),
    query.where('users.id', '=', first!),
  ];
  const wanted = [...others.toReversed(), first];
  const read: number[] = [];
  for (let page = 1; page <= ids.length; page++) {
    const { items, total, has_more } = await paginate(db, query, { page, per_page: 2 }, { parts });
    read.push(...items.map(({ id }) => id));
    assert.equal(total, ids.length);
    assert.equal(has_more, page * 2 < ids.length);
  }
  assert.deepEqual(read, wanted);
});

/** A list of numbers: every fourth one has no rank, and the others share three ranks. */
const numbersFrom = (db: Database, first: number, last: number) =>
  db.selectFrom(
    sql<{
      id: number;
      rank: number | null;
    }>`(select n as id, nullif(n % 4, 3) as rank from generate_series(${first}::int, ${last}::int) n)`.as('numbers'),
  );

test('the pages behind a far one are found by cursors, also if rows before them are gone', async () => {
  const { db } = await world();
  const list = (first: number) => numbersFrom(db, first, 1300).selectAll();
  const orders = [
    (query: ReturnType<typeof list>) => query.orderBy('numbers.rank').orderBy('id'),
    (query: ReturnType<typeof list>) => query.orderBy('rank', 'desc').orderBy('numbers.id', 'desc'),
    (query: ReturnType<typeof list>) =>
      query.orderBy('rank', (order) => order.desc().nullsLast()).orderBy(sql.ref('id')),
    (query: ReturnType<typeof list>) => query.orderBy(sql`numbers.rank is null`, 'desc').orderBy('id', 'desc'),
    (query: ReturnType<typeof list>) => query.orderBy('id', 'desc'),
  ];
  for (const ordered of orders) {
    const all = await ordered(list(1)).execute();
    const near = await paginate(db, ordered(list(1)), { page: 9, per_page: 100 });
    assert.equal(near.cursor, undefined);
    let last = await paginate(db, ordered(list(1)), { page: 10, per_page: 100 });
    assert.deepEqual(last.items, all.slice(900, 1000));
    const [read, gone] = [[...last.items], 900];
    while (last.cursor !== undefined) {
      const rest = ordered(
        list(1).where(
          'id',
          'not in',
          all.slice(0, gone).map(({ id }) => id),
        ),
      );
      last = await paginate(db, rest, { page: last.page + 1, per_page: 70, cursor: last.cursor });
      assert.equal(last.total, 400);
      read.push(...last.items);
    }
    assert.deepEqual(read, all.slice(900));
  }
});

test('a list without a column that tells its rows apart has no cursors, and refuses them', async () => {
  const { db } = await world();
  const query = numbersFrom(db, 1, 1300).selectAll().orderBy('rank');
  assert.equal((await paginate(db, query, { page: 10, per_page: 100 })).cursor, undefined);
  const { cursor } = await paginate(db, query.orderBy('id'), { page: 10, per_page: 100 });
  for (const list of [query, query.orderBy('id', 'desc')])
    await assert.rejects(paginate(db, list, { page: 11, per_page: 100, cursor: cursor! }), { status: 400 });
  assert.throws(() => pageOfArray([1, 2], { page: 1, per_page: 1, cursor: cursor! }), { status: 400 });
});

test('far pages of a list in parts, or without a column that tells its rows apart, have no cursor', async () => {
  const { db } = await world();
  const list = (first: number, last: number) => numbersFrom(db, first, last).selectAll();
  const whole = list(1, 1300).orderBy('rank');
  const parts = [list(1, 400).orderBy('id'), list(401, 1300).orderBy('id', 'desc')];
  const page = { page: 11, per_page: 100 };
  const inParts = await paginate(db, whole.orderBy('id'), page, { parts });
  assert.deepEqual([inParts.items[0]!.id, inParts.has_more, inParts.cursor], [700, true, undefined]);
  const { items, has_more, cursor } = await paginate(db, whole, page, { varies: true });
  assert.deepEqual([items.length, has_more, cursor], [100, true, undefined]);
});

test('a page by number behind the 50,000th row is refused, unless the list is known to end before it', async () => {
  const { db } = await world();
  const page = (last: number, number: number) =>
    paginate(db, numbersFrom(db, 1, last).selectAll().orderBy('id'), { page: number, per_page: 100 });
  const long = await page(60_000, 500);
  assert.deepEqual([long.items[0]!.id, long.has_more, long.total], [49_901, true, undefined]);
  await assert.rejects(page(60_000, 502), (error) => {
    assert.ok(error instanceof ApiError);
    const text =
      'Offset pagination has a maximum allowed offset of 50000 for lists without a total. Follow the links to the next page instead.';
    assert.deepEqual([error.status, error.body], [405, { message: text, error: text }]);
    return true;
  });
  assert.deepEqual(await page(10_000, 501), { items: [], page: 501, per_page: 100, has_more: false, total: 10_000 });
  const next = { page: 501, per_page: 100, cursor: long.cursor! };
  assert.equal((await paginate(db, numbersFrom(db, 1, 60_000).selectAll().orderBy('id'), next)).items[0]!.id, 50_001);
});

test('a client that counts pages reads on where the page before ended, however far that is', async () => {
  const { db } = await world();
  await sql`create table counted as select generate_series(1, 60000) as id`.execute(db);
  const list = (db as unknown as Kysely<{ counted: { id: number } }>)
    .selectFrom('counted')
    .selectAll()
    .orderBy('counted.id');
  const page = (number: number, cursor?: string) =>
    paginate(db, list, { page: number, per_page: 100, ...(cursor === undefined ? {} : { cursor }) });
  const first = async (number: number) => (await page(number)).items[0]!.id;
  assert.equal(await first(499), 49_801);
  await sql`delete from counted where id <= 10`.execute(db);
  assert.deepEqual([await first(500), await first(501), await first(502)], [49_901, 50_001, 50_101]);
  // What was not read before is found by its number, and refused beyond the limit.
  assert.equal(await first(300), 29_911);
  await assert.rejects(first(504), { status: 405 });
  // The number beside a cursor is the client's, and does not count.
  assert.equal((await page(700, (await page(400)).cursor)).items[0]!.id, 40_011);
  await assert.rejects(first(701), { status: 405 });
});

test('a filter on a joined table selects one of several rows for a row of the list', async () => {
  const { db, people, group, project } = await world();
  const query = db
    .selectFrom('users')
    .innerJoin('members', 'members.user_id', 'users.id')
    .select(['users.id', 'members.project_id'])
    .where('members.project_id', '=', project.id)
    .orderBy('users.id');
  for (const place of [{ project_id: project.id }, { group_id: group.id }])
    await db
      .insertInto('members')
      .values({ user_id: people.admin.id, access_level: 30, ...place })
      .execute();
  const { items, total } = await paginate(db, query, { page: 1, per_page: 100 });
  assert.deepEqual(new Set(items.map(({ project_id }) => project_id)), new Set([project.id]));
  assert.equal(items.filter(({ id }) => id === people.admin.id).length, 1);
  assert.equal(total, items.length);
});

test('a far page is planned for its own depth and values, a near one as before', async () => {
  const { db } = await world();
  await db.connection().execute(async (connection) => {
    const { pid } = (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection)).rows[0]!;
    const query = connection
      .selectFrom('users')
      .select(['users.id', sql<number>`1`.as('one')])
      .orderBy('users.id');
    const isCustom = async (offset: number) => {
      await idsOnPage(query, { per_page: 20, offset });
      const { rows } = await sql<{ query: string }>`select query from pg_stat_activity where pid = ${pid}`.execute(db);
      assert.match(rows[0]!.query, /"page_id"/);
      return rows[0]!.query.endsWith('/* custom plan */');
    };
    assert.equal(await isCustom(1000), true);
    assert.equal(await isCustom(980), false);
  });
});
