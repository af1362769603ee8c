import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sharedDatabase } from '../../test/support/database.ts';
import { type World, world } from '../../test/support/world.ts';
import { connect, type Database } from '../db/index.ts';
import type { Services } from '../services/index.ts';
import { callerOfToken } from './authentication.ts';
import { groupFor } from './groups.ts';
import { projectFor } from './projects.ts';
import { rightsVersion } from './rights_version.ts';

interface Column {
  table_name: string;
  column_name: string;
}

/** The columns that a statement reads, as PostgreSQL notes them for a view; for a view that it reads, those of its tables. */
async function columnsOf(db: Database, statement: string): Promise<Column[]> {
  await sql`create temporary view rights_statement as ${sql.raw(statement.replaceAll(/\$\d+/g, 'null'))}`.execute(db);
  const { rows } = await sql<Column>`
    with recursive used as (
      select refobjid, refobjsubid from pg_rewrite join pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
       where ev_class = 'rights_statement'::regclass and refclassid = 'pg_class'::regclass and refobjsubid > 0
      union
      select inner_uses.refobjid, inner_uses.refobjsubid from used join pg_rewrite on ev_class = used.refobjid
        join pg_depend inner_uses on inner_uses.classid = 'pg_rewrite'::regclass and inner_uses.objid = pg_rewrite.oid
       where inner_uses.refclassid = 'pg_class'::regclass and inner_uses.refobjsubid > 0
    )
    select relname as table_name, attname as column_name
      from used join pg_class on pg_class.oid = refobjid join pg_attribute on attrelid = refobjid and attnum = refobjsubid
     where relkind = 'r'`.execute(db);
  await sql`drop view rights_statement`.execute(db);
  return rows;
}

/** Columns that may be out of date for a minute, or never change. */
const mayBeOld = ['personal_access_tokens.id', 'personal_access_tokens.last_used_at', 'users.last_activity_on'];
const neverChange = ['users.id', 'projects.id', 'application_settings.counts_requests'];

test('a change of any column that decides on rights raises their version', async () => {
  const here = await world();
  const { connectionString } = await sharedDatabase();
  const db = connect({ connectionString, max: 1 });
  try {
    const services = { ...here.services, db } as Services;
    await rightsVersion(db);
    await callerOfToken(services, { value: here.people.guest.token, username: '', address: '127.0.0.1' });
    await projectFor(db, { id: here.people.guest.id, admin: false }, String(here.project.id));
    await groupFor(db, { id: here.people.guest.id, admin: false }, String(here.group.id));
    const { rows: statements } = await sql<{ statement: string }>`
      select statement from pg_prepared_statements where statement like '%select%' and statement not like '%pg_prepared%'`.execute(
      db,
    );
    const reading = statements.filter(
      ({ statement }) => /^\s*select/.test(statement) && !statement.includes('rights_versions'),
    );
    assert.equal(reading.length, 3, reading.map(({ statement }) => statement).join('\n'));
    const columns: Column[] = [];
    for (const { statement } of reading) columns.push(...(await columnsOf(db, statement)));
    const read = new Set(columns.map(({ table_name, column_name }) => `${table_name}.${column_name}`));
    const { rows: raising } = await sql<{ column: string }>`
      select relname || '.' || attname as "column"
        from pg_trigger join pg_class on pg_class.oid = tgrelid
             join pg_attribute on attrelid = tgrelid and attnum > 0 and (tgattr = '' or attnum = any(tgattr))
       where tgname = 'raise_rights_version' and tgtype & 28 = 28`.execute(db);
    const known = new Set([...raising.map(({ column }) => column), ...mayBeOld, ...neverChange]);
    const expected = ['licenses.expires_at', 'namespaces.archived', 'emails.confirmed_at', ...mayBeOld, ...neverChange];
    assert.deepEqual(
      expected.filter((column) => !read.has(column)),
      [],
    );
    assert.deepEqual([...read.difference(known)], []);
  } finally {
    await db.destroy();
  }
});

/** Reads as a person until the answer is kept, changes something, and reads once more. */
async function changedBy(
  read: () => Promise<{ status: number }>,
  change: () => Promise<unknown>,
): Promise<[before: number, after: number]> {
  await read();
  const before = await read();
  await change();
  return [before.status, (await read()).status];
}

test('whatever ends a right ends it at once', async () => {
  const here = await world();
  const { db, project, group } = here;
  const ended = (column: string) => sql`update ${sql.table(column)} set expires_at = current_date`;
  const changes: Record<string, (person: { id: number }) => Promise<unknown>> = {
    'the token is revoked': ({ id }) =>
      db.updateTable('personal_access_tokens').set({ revoked: true }).where('user_id', '=', id).execute(),
    'the token expires': ({ id }) => sql`${ended('personal_access_tokens')} where user_id = ${id}`.execute(db),
    'the token loses its scopes': ({ id }) =>
      db
        .updateTable('personal_access_tokens')
        .set({ scopes: ['read_user'] })
        .where('user_id', '=', id)
        .execute(),
    'the user is blocked': ({ id }) => here.as('admin').post(`/users/${id}/block`),
    'the user is deleted': ({ id }) => here.as('admin').delete(`/users/${id}`, { hard_delete: true }),
    'the membership is removed': ({ id }) => here.as('owner').delete(`/projects/${project.id}/members/${id}`),
    'the membership ends': ({ id }) => sql`${ended('project_authorizations')} where user_id = ${id}`.execute(db),
    'the level becomes lower': ({ id }) =>
      here.as('owner').put(`/projects/${project.id}/members/${id}`, { access_level: 10 }),
  };
  for (const [what, change] of Object.entries(changes)) {
    const person = await here.person();
    assert.equal(
      (await here.as('owner').post(`/projects/${project.id}/members`, { user_id: person.id, access_level: 40 })).status,
      201,
    );
    const [before, after] = await changedBy(
      () => person.client.get(`/projects/${project.id}/freeze_periods`),
      () => change(person),
    );
    assert.equal(before, 200, what);
    assert.ok([401, 403, 404].includes(after), `${what}: ${after}`);
  }
  const outsider = here.as('outsider');
  await here.as('owner').put(`/groups/${group.id}`, { visibility: 'public' });
  await here.as('owner').put(`/projects/${project.id}`, { visibility: 'public' });
  const closed = await changedBy(
    () => outsider.get(`/projects/${project.id}`),
    () => here.as('owner').put(`/projects/${project.id}`, { visibility: 'private' }),
  );
  assert.deepEqual(closed, [200, 404]);
  const hidden = await changedBy(
    () => here.as('anonymous').get(`/groups/${group.id}`),
    () => here.as('owner').put(`/groups/${group.id}`, { visibility: 'private' }),
  );
  assert.deepEqual(hidden, [200, 404]);
});

test('what a transaction has not committed counts for nobody else', async () => {
  const here: World = await world();
  const { db, project } = here;
  const person = await here.person();
  await here.as('owner').post(`/projects/${project.id}/members`, { user_id: person.id, access_level: 20 });
  const read = async () => (await person.client.get(`/projects/${project.id}`)).status;
  assert.equal(await read(), 200);
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('project_authorizations').where('user_id', '=', person.id).execute();
    assert.equal(await read(), 200);
  });
  assert.equal(await read(), 404);
});

test('transactions that change rights at the same time do not wait for each other', async () => {
  const { db, people } = await world();
  const rename = (tx: Database, id: number) =>
    tx.updateTable('users').set({ name: 'Changed' }).where('id', '=', id).execute();
  const before = await rightsVersion(db);
  await db.transaction().execute(async (one) => {
    await rename(one, people.guest.id);
    await db.transaction().execute(async (other) => {
      await sql`set local lock_timeout = '5s'`.execute(other);
      await rename(other, people.planner.id);
    });
    assert.notEqual(await rightsVersion(db), before);
  });
});
