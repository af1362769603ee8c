import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../../test/support/jobs.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { removeProject } from '../../../spaces/projects/index.ts';
import { digestErrors, forgetOldErrors } from './jobs.ts';

const tables = [
  ...['events', 'errors', 'error_users', 'error_tags', 'error_hours', 'rates'],
  ...['releases', 'sessions', 'release_hours', 'release_users'],
] as const;

async function counts({ db }: World): Promise<Record<string, number>> {
  const each = tables.map(
    (name) =>
      sql`select ${sql.lit(name)} as name, count(*)::integer as count from ${sql.table(`error_tracking_${name}`)}`,
  );
  const { rows } = await sql<{ name: string; count: number }>`${sql.join(each, sql` union all `)}`.execute(db);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

const partitions = async ({ db }: World): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'error_tracking_events'::regclass order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
};

const line = (value: unknown) => `${JSON.stringify(value)}\n`;

/** Sends an event with a user and a session, and groups the event. */
async function send(here: World, key: string, message: string, release: string): Promise<void> {
  const url = `${here.url}/api/v4/error_tracking/collector/api/${here.project.id}/envelope/?sentry_key=${key}`;
  const session = { sid: message.padEnd(32, '0'), status: 'exited', did: message, attrs: { release } };
  const items = [line({ type: 'event' }), line({ message, user: { id: 1 } }), line({ type: 'session' }), line(session)];
  assert.equal((await fetch(url, { method: 'POST', body: line({}) + items.join('') })).status, 200);
  await performQueued(here.services, [digestErrors]);
}

/** Makes everything older that has been sent until now. */
async function age({ db }: World, days: number): Promise<void> {
  const by = sql`make_interval(days => ${days}::integer)`;
  const times = {
    events: ['received_at'],
    errors: ['last_seen_at'],
    error_hours: ['hour'],
    rates: ['minute'],
    releases: ['last_seen_at'],
    sessions: ['updated_at'],
    release_hours: ['hour'],
    release_users: ['seen_at'],
  };
  for (const [table, [column]] of Object.entries(times))
    await sql`update ${sql.table(`error_tracking_${table}`)} set ${sql.ref(column!)} = ${sql.ref(column!)} - ${by}`.execute(
      db,
    );
}

test('errors are deleted after the configured days, and partitions are created for the coming days', async () => {
  const here = await world({});
  const { as, project, services, db } = here;
  const base = `/projects/${project.id}/error_tracking`;
  await as('maintainer').put(`${base}/settings`, { active: true, integrated: true });
  const [{ public_key }] = (await as('maintainer').get(`${base}/client_keys`)).body;
  const refused = await as('admin').put('/application/settings', { error_tracking_retention_days: 91 });
  assert.equal(refused.status, 400);
  assert.equal((await as('admin').get('/application/settings')).body.error_tracking_retention_days, 90);

  await performJob(services, forgetOldErrors);
  const made = await partitions(here);
  assert.equal(made.length, 8);
  await performJob(services, forgetOldErrors);
  assert.deepEqual(await partitions(here), made);

  await send(here, public_key, 'aa', 'app@1');
  await age(here, 60);
  await send(here, public_key, 'bb', 'app@2');
  const both = { events: 2, errors: 2, error_users: 2, error_tags: 4, error_hours: 2, rates: 2 };
  const ofReleases = { releases: 2, sessions: 2, release_hours: 2, release_users: 2 };
  assert.deepEqual(await counts(here), { ...both, ...ofReleases });
  await performJob(services, forgetOldErrors);
  // Of both only the counts of a minute that is over, and a session that is.
  assert.deepEqual(await counts(here), { ...both, ...ofReleases, rates: 1, sessions: 1 });

  // A day that is over, with an event of an error that is not.
  await sql`create table error_tracking_events_20200102 partition of error_tracking_events
              for values from ('2020-01-02T00:00Z') to ('2020-01-03T00:00Z')`.execute(db);
  await sql`
    insert into error_tracking_events (project_id, event_id, received_at, error_id, occurred_at, environment, level,
                                       description, name, actor, platform, fingerprint, tags, payload)
    select project_id, gen_random_uuid(), '2020-01-02T12:00Z', error_id, occurred_at, environment, level,
           description, name, actor, platform, fingerprint, tags, payload
      from error_tracking_events order by id desc limit 1`.execute(db);
  const { status } = await as('admin').put('/application/settings', { error_tracking_retention_days: 60 });
  assert.equal(status, 200);
  await performJob(services, forgetOldErrors);
  assert.deepEqual(await partitions(here), made);
  const [one, oneOfReleases] = [both, ofReleases].map((all) =>
    Object.fromEntries(Object.keys(all).map((name) => [name, 1])),
  );
  assert.deepEqual(await counts(here), { ...one, ...oneOfReleases, error_tags: 2 });
  assert.equal((await as('reporter').get(`${base}/releases_health`)).body[0].release, 'app@2');

  // With the project everything of it is gone.
  assert.equal((await as('owner').delete(`/projects/${project.id}`)).status, 202);
  await performJob(services, removeProject, { project_id: project.id });
  assert.deepEqual(await counts(here), Object.fromEntries(tables.map((name) => [name, 0])));
});
