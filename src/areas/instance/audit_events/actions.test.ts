import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { anonymousBrowser } from '../../../../test/support/browser.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';

interface EventRow {
  event_name: string;
  author_id: number;
  author_name: string;
  acts_as: string | null;
  ip_address: string | null;
  entity_type: string;
  entity_path: string;
  target_details: string;
  details: object;
  hash: Buffer | null;
}

/** The events of a project, oldest first. */
async function eventsOf({ db, project }: World): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select *, host(ip_address) as ip_address from audit_events where entity_type = 'Project' and entity_id = ${project.id} order by id`.execute(
    db,
  );
  return rows;
}

/** What is new since `before`. */
const since = (before: EventRow[], after: EventRow[]) => after.slice(before.length);

test('a change writes its events in its transaction: who, from where, on what, and what', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const url = `/projects/${project.id}/protected_branches`;
  const before = await eventsOf(here);
  assert.equal((await as('maintainer').post(url, { name: 'stable' })).status, 201);
  const [added, ...others] = since(before, await eventsOf(here));
  assert.equal(others.length, 0);
  const { id } = people.maintainer;
  assert.deepEqual(
    [
      added!.event_name,
      added!.author_id,
      added!.author_name.split(' ')[0],
      added!.acts_as,
      added!.entity_path,
      added!.target_details,
      added!.details,
    ],
    ['protected_branch_created', id, 'maintainer', null, project.full_path, 'stable', { add: 'protected_branch' }],
  );
  assert.match(added!.ip_address!, /^(127\.0\.0\.1|::1)$/);
  assert.equal(added!.hash?.length, 32);

  const changes = { allow_force_push: true, code_owner_approval_required: true };
  assert.equal((await as('maintainer').patch(`${url}/stable`, changes)).status, 200);
  assert.deepEqual(
    since([...before, added!], await eventsOf(here)).map(({ event_name, details }) => [event_name, details]),
    [
      ['protected_branch_updated', { change: 'allow_force_push', from: 'false', to: 'true' }],
      ['protected_branch_updated', { change: 'code_owner_approval_required', from: 'false', to: 'true' }],
    ],
  );
});

test('what is refused or changes nothing writes no event', async () => {
  const here = await filledWorld();
  const url = `/projects/${here.project.id}/protected_branches`;
  await here.as('maintainer').post(url, { name: 'stable' });
  const before = await eventsOf(here);
  assert.equal((await here.as('maintainer').post(url, { name: 'stable' })).status, 409);
  assert.equal((await here.as('developer').delete(`${url}/stable`)).status, 403);
  assert.equal((await here.as('maintainer').patch(`${url}/stable`, { allow_force_push: false })).status, 200);
  assert.deepEqual(since(before, await eventsOf(here)), []);
});

test('under sudo the author is the administrator', async () => {
  const here = await filledWorld();
  const { people } = here;
  const url = `/projects/${here.project.id}/protected_branches?sudo=${people.maintainer.username}`;
  const before = await eventsOf(here);
  assert.equal((await here.as('admin').post(url, { name: 'stable' })).status, 201);
  const [event] = since(before, await eventsOf(here));
  assert.deepEqual([event!.author_id, event!.acts_as], [people.admin.id, people.maintainer.username]);
});

test('events are never changed or deleted', async () => {
  const here = await filledWorld();
  await here.as('maintainer').post(`/projects/${here.project.id}/protected_branches`, { name: 'stable' });
  const before = await eventsOf(here);
  for (const statement of [
    sql`update audit_events set author_id = 1`,
    sql`update audit_events set hash = null`,
    sql`delete from audit_events`,
    sql`truncate audit_events`,
    sql`truncate audit_events_default`,
  ])
    await assert.rejects(statement.execute(here.db), /Audit events are never changed or deleted/);
  assert.deepEqual(await eventsOf(here), before);
});

test('asking for a new password is told of the account, and of nobody where there is none', async () => {
  const here = await filledWorld();
  const { db, people } = here;
  const { rows: emails } = await sql<{ email: string }>`select email from users where id = ${people.guest.id}`.execute(
    db,
  );
  const ask = (email: string) => anonymousBrowser(here.url).send('/users/password/new', 'reset', { email });
  const answers = [await ask(emails[0]!.email), await ask('nobody@example.com')];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303],
  );
  const { rows } = await sql<EventRow>`
    select * from audit_events where event_name = 'password_reset_requested' and entity_id = ${people.guest.id}`.execute(
    db,
  );
  assert.deepEqual(
    rows.map(({ author_id, entity_type, entity_path }) => [author_id, entity_type, entity_path]),
    [[-1, 'User', people.guest.username]],
  );
});
