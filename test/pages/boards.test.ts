import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

test('a board is created in the browser, and its issues are moved by forms', async () => {
  const here = await world();
  const { as, project } = here;
  const boards = `/${project.full_path}/-/boards`;
  const browser = await browserOf(here, here.people.planner);
  const created = await browser.send(boards, 'create', { name: 'Kanban' });
  assert.deepEqual([created.status, created.to?.startsWith(`${boards}/`)], [303, true]);
  const address = created.to!;
  const id = address.split('/').at(-1)!;
  const label = await sent(as('planner').post(`/projects/${project.id}/labels`, { name: 'todo', color: '#aabbcc' }));
  const list = await sent(as('planner').post(`/projects/${project.id}/boards/${id}/lists`, { label_id: label.id }));
  const issue = await addIssue(here, { title: 'Pick the apples' });

  assert.match((await browser.get(boards)).html, /Kanban<\/a>/);
  const { html } = await browser.get(address);
  assert.match(html, new RegExp(`href="/${project.full_path}/-/issues/${issue.iid}">Pick the apples`));
  const move = {
    issue_id: String(issue.id),
    from_list_id: 'open',
    to_list_id: String(list.id),
    _key: `open-${issue.id}`,
  };
  const moved = await browser.send(address, 'move', move);
  assert.deepEqual([moved.status, moved.to], [303, address]);
  assert.deepEqual((await as('planner').get(`/projects/${project.id}/issues/${issue.iid}`)).body.labels, ['todo']);

  // Guests see the board, without forms.
  const guest = await (await browserOf(here, here.people.guest)).get(address);
  assert.equal(guest.status, 200);
  assert.doesNotMatch(guest.html, /Move to/);
  const stranger = await (await browserOf(here, here.people.outsider)).get(address);
  assert.equal(stranger.status, 404);
});
