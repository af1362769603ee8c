/** Filters of lists in words, and kept under a name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, browserOf, fieldsIn } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { world } from '../support/world.ts';

test('filters in words lead to the list that the fields lead to', async () => {
  const here = await world();
  const { project, group, people } = here;
  const browser = await browserOf(here, people.developer);
  const list = `/${project.full_path}/-/issues`;
  await addIssue(here, { title: 'Ripe pears', labels: 'fruit', assignee_ids: [people.developer.id] });
  await addIssue(here, { title: 'Sour pears', labels: 'fruit,late' });
  const titles = async (words: string, at = list) => {
    const { to, status } = await browser.get(`${at}/filter?${new URLSearchParams({ words, state: 'all' })}`);
    assert.equal(status, 302);
    const { html } = await browser.get(to!);
    return { to, html, found: ['Ripe', 'Sour'].filter((word) => html.includes(`>${word} pears</a>`)) };
  };
  const mine = await titles('label:fruit assignee:me');
  assert.equal(mine.to, `${list}?labels=fruit&assignee_username=${people.developer.username}&state=all`);
  assert.deepEqual(mine.found, ['Ripe']);
  assert.match(
    mine.html,
    new RegExp(`id="words" name="words" value="label:fruit assignee:${people.developer.username}"`),
  );
  assert.deepEqual((await titles('label:fruit -label:late')).found, ['Ripe']);
  assert.deepEqual((await titles('no:assignee pears')).found, ['Sour']);
  assert.deepEqual((await titles('label:fruit', `/groups/${group.full_path}/-/issues`)).found, ['Ripe', 'Sour']);
  assert.deepEqual((await titles('is:closed')).found, []);
  const requests = await browser.get(`/${project.full_path}/-/merge_requests/filter?words=no:reviewer+draft:false`);
  assert.equal(requests.to, `/${project.full_path}/-/merge_requests?reviewer_id=None&draft=false`);
  assert.equal((await browser.get(requests.to!)).status, 200);
});

test('the filters of a list are kept under a name, for one person and one list', async () => {
  const here = await world();
  const { project, group, people, db } = here;
  const browser = await browserOf(here, people.developer);
  const list = `/${project.full_path}/-/issues`;
  assert.doesNotMatch((await browser.get(list)).html, /Saved views/);
  const filtered = `${list}?labels=fruit&search=&state=all&page=1`;
  assert.ok('name' in fieldsIn((await browser.get(filtered)).html, 'save_view'));
  assert.equal((await browser.send(filtered, 'save_view', { name: 'Fruit' })).to, filtered);
  const { html } = await browser.get(list);
  assert.match(html, new RegExp(`href="${list}\\?labels=fruit&amp;state=all" *>Fruit<`));
  const shown = (await browser.get(`${list}?state=all&labels=fruit`)).html;
  assert.match(shown, /aria-current="page">Fruit</);
  assert.doesNotMatch(shown, /id="save_view"/);
  for (const [name, status, text] of [
    ['Fruit', 409, 'There is a view with this name already'],
    [' ', 400, 'Name'],
    ['x'.repeat(101), 400, 'too long'],
  ] as const) {
    const refused = await browser.send(`${list}?labels=late`, 'save_view', { name });
    assert.deepEqual([refused.status, refused.html.includes(text)], [status, true], name);
  }
  // Nobody else has it, and no other list.
  const other = await browserOf(here, people.owner);
  assert.doesNotMatch((await other.get(list)).html, />Fruit</);
  const own = fieldsIn(shown, 'remove_view');
  assert.equal((await other.send(list, 'remove_view', own)).status, 404);
  for (const path of [
    `/groups/${group.full_path}/-/issues`,
    '/dashboard/issues',
    list.replace('issues', 'merge_requests'),
  ]) {
    assert.doesNotMatch((await browser.get(path)).html, />Fruit</);
    assert.equal((await browser.send(`${path}?labels=fruit`, 'save_view', { name: 'Fruit' })).status, 303);
    assert.match((await browser.get(path)).html, />Fruit</);
  }
  assert.equal((await browser.send(list, 'remove_view', own)).to, list);
  assert.doesNotMatch((await browser.get(list)).html, />Fruit</);
  assert.equal((await anonymousBrowser(here.url).send(list, 'save_view', { name: 'Mine' })).status, 401);

  await db
    .insertInto('saved_views')
    .values(
      Array.from({ length: 47 }, (_, n) => ({ user_id: people.developer.id, list: 'issues', name: `${n}`, query: '' })),
    )
    .execute();
  const full = await browser.send(`${list}?labels=late`, 'save_view', { name: 'Too many' });
  assert.equal(full.status, 400);
  assert.match(full.html, /Maximum number of views \(50\) exceeded/);
});
