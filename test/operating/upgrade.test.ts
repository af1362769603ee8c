/** A database that the previous release has filled is upgraded, and everything in it is still there and still works. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createToken } from '../../src/areas/people/personal_access_tokens/index.ts';
import type { Database } from '../../src/db/index.ts';
import { migrate } from '../../src/db/migrate.ts';
import { schemaDump } from '../../src/db/schema_dump.ts';
import { type Client, clientOf } from '../support/client.ts';
import { emptyDatabase } from '../support/database.ts';
import { startServer } from '../support/populate.ts';
import { installPreviousRelease } from './previous_release.ts';

let db: Database;
let stop = async () => {};
let client: (username: string) => Promise<Client>;

before(async () => {
  const { connectionString, db: database } = await emptyDatabase();
  db = database;
  await installPreviousRelease(connectionString);
  await migrate(connectionString);
  const server = await startServer(db, {});
  client = async (username) => {
    const user = await db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirstOrThrow();
    const { value } = await db
      .transaction()
      .execute((tx) => createToken(tx, { user_id: user.id, name: 'after', scopes: ['api'], expires_at: null }));
    return clientOf(`${server.url}/api/v4`, value);
  };
  stop = server.stop;
});

after(() => stop());

test('an upgraded database has the same schema as a new one', async () => {
  assert.equal(
    await schemaDump(db),
    await readFile(path.resolve(import.meta.dirname, '../../docs/schema.sql'), 'utf8'),
  );
});

test('data written before the upgrade can be read after it', async () => {
  const owner = await client('owner-1');
  const project = '/projects/group-1%2Fproject-1';
  const { body: issues } = await owner.get(`${project}/issues`, { order_by: 'created_at', sort: 'asc' });
  assert.deepEqual(
    issues.map(({ title, state, labels, epic, weight }: Record<string, unknown>) => [
      title,
      state,
      labels,
      epic !== null,
      weight,
    ]),
    [
      ['Name the varieties', 'opened', ['catalogue', 'kind::bug'], true, 3],
      ['Graft the trees', 'closed', [], false, null],
    ],
  );
  assert.equal(issues[0].milestone.title, 'First harvest');
  assert.equal(issues[0].time_stats.total_time_spent, 5400);
  assert.equal(issues[0].upvotes, 1);
  const { body: epics } = await owner.get('/groups/group-1/epics', { order_by: 'created_at', sort: 'asc' });
  assert.deepEqual(
    epics.map(({ title, start_date, due_date }: Record<string, unknown>) => [title, start_date, due_date]),
    [
      ['Orchard', '2026-03-01', '2026-09-30'],
      ['Varieties', '2026-03-01', '2026-09-30'],
    ],
  );
  const lists = [
    '/groups/group-1/invitations',
    `${project}/invitations`,
    '/groups/group-1/member_roles',
    `${project}/freeze_periods`,
  ];
  for (const list of lists) assert.equal((await owner.get(list)).body.length, 1, list);
  assert.equal((await owner.get('/projects/owner-1%2Fopen')).status, 301);
});

test('work started before the upgrade continues after it', async () => {
  const owner = await client('owner-1');
  const project = '/projects/group-1%2Fproject-1';
  const milestone = (await owner.get(`${project}/milestones`)).body[0];
  await owner.put(`${project}/milestones/${milestone.id}`, { due_date: '2026-10-31' });
  const { body: epics } = await owner.get('/groups/group-1/epics');
  assert.deepEqual(
    epics.map(({ due_date }: Record<string, unknown>) => due_date),
    ['2026-10-31', '2026-10-31'],
  );
  const created = await owner.post(`${project}/issues`, { title: 'Prune the trees' });
  assert.deepEqual([created.status, created.body.iid], [201, 3]);
  const commented = await owner.post(`${project}/issues/1/notes`, { body: 'And now?' });
  assert.equal(commented.status, 201);
});

test('accepting an invitation and deciding on a request from before the upgrade takes effect', async () => {
  const admin = await client('admin-1');
  const user = {
    username: 'grafter',
    name: 'Grafter',
    email: 'grafter@example.org',
    password: 'apples and pears',
    skip_confirmation: true,
  };
  assert.equal((await admin.post('/users', user)).status, 201);
  const owner = await client('owner-1');
  const request = (await owner.get('/projects/owner-1%2Fopened/access_requests')).body[0];
  assert.equal((await owner.get('/todos')).body.length, 1);
  assert.equal((await owner.put(`/projects/owner-1%2Fopened/access_requests/${request.id}/approve`)).status, 201);
  assert.equal((await owner.get('/todos')).body.length, 0);
});
