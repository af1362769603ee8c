/** The page of a user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

test('the days of a user count what the reader may see', async () => {
  const here = await world();
  const { db, people, project, as } = here;
  const author = await here.person();
  const own = await sent(author.client.post('/projects', { name: 'In public', visibility: 'public' }));
  for (const title of ['One', 'Two']) await sent(author.client.post(`/projects/${own.id}/issues`, { title }));
  await sent(as('owner').post(`/projects/${project.id}/members`, { user_id: author.id, access_level: 30 }));
  await db
    .updateTable('events')
    .set({ created_at: sql`now() - interval '2 days'` })
    .where('author_id', '=', author.id)
    .execute();
  await sent(author.client.post(`/projects/${project.id}/issues`, { title: 'Inside' }));
  const page = `/${author.username}`;
  const daysIn = (html: string) =>
    [...html.matchAll(/<title>(\d+) events? on (\d{4}-\d\d-\d\d)<\/title>/g)].map(([, count, day]) => [
      Number(count),
      day,
    ]);
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const listed = async (by: 'anonymous' | 'developer') =>
    (await sent(as(by).get(`/users/${author.id}/events?per_page=100`))).length;
  const open = await listed('anonymous');
  assert.ok(open >= 3);
  const { html } = await anonymousBrowser(here.url).get(page);
  assert.deepEqual(daysIn(html), [[open, ago(2)]]);
  assert.ok(!html.includes('Inside'));
  const member = (await (await browserOf(here, people.developer)).get(page)).html;
  const counts = daysIn(member).map(([count]) => Number(count));
  assert.equal(counts.length, 2);
  assert.equal(counts[0]! + counts[1]!, await listed('developer'));
  assert.match(member, new RegExp(`issue <a href="/${project.full_path}/-/issues/1">#1 Inside</a> in <a`));
  await db.updateTable('users').set({ private_profile: true }).where('id', '=', author.id).execute();
  assert.deepEqual(daysIn((await anonymousBrowser(here.url).get(page)).html), []);
});
