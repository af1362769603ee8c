/** The pages of errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fillIn } from '../support/browser.ts';
import { reports, thrown } from '../support/error_tracking.ts';
import { world } from '../support/world.ts';

test('a project without errors says how to send one, and several are resolved at once', async () => {
  const here = await world();
  const { as, db, project, people } = here;
  const address = `/${project.full_path}/-/error_tracking`;
  const reader = await browserOf(here, people.reporter);
  assert.match((await reader.get(address)).html, /There are no errors yet\./);
  const { errors, report } = await reports(here);
  const [{ sentry_dsn }] = (await as('owner').get(`/projects/${project.id}/error_tracking/client_keys`)).body;
  const maintainer = await browserOf(here, people.maintainer);
  const { html } = await maintainer.get(address);
  assert.match(html, /<details name="language" open><summary>JavaScript<\/summary>/);
  assert.ok(html.includes(`dsn: &#39;${sentry_dsn}&#39;`) || html.includes(`dsn: '${sentry_dsn}'`));
  assert.ok(!(await reader.get(address)).html.includes(sentry_dsn));

  await report(thrown('RottenError', 'Rotten'), thrown('WormError', 'Worm'));
  const listed = (await as('owner').get(errors)).body;
  const ids = listed.map(({ id }: { id: number }) => String(id));
  const developer = await browserOf(here, people.developer);
  await fillIn(developer, address, 'several', { 'ids[]': ids, status: 'resolved' });
  assert.deepEqual((await as('owner').get(errors, { status: 'unresolved' })).body, []);
  assert.match((await maintainer.get(address)).html, /There are no unresolved errors that match\./);

  const { id } = await db
    .insertInto('error_tracking_releases')
    .values({
      project_id: project.id,
      release: 'trees@2.0',
      environment: 'production',
      last_seen_at: '2026-11-01T10:00:00Z',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const hour = { release_id: id, hour: '2026-11-01T10:00:00Z', exited: 3, crashed: 1 };
  await db.insertInto('error_tracking_release_hours').values(hour).execute();
  const { html: releases } = await reader.get(`${address}/releases`);
  assert.match(releases, /trees@2\.0[\s\S]*75 % of the sessions without a crash[\s\S]*4 sessions/);
  assert.ok(releases.includes(`${address}?release=trees%402.0`));
});
