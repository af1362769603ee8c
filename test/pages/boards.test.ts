import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fieldsIn } from '../support/browser.ts';
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

test('a board gets its lists and settings in the browser, and is deleted', async () => {
  const here = await world();
  const { as, project, people } = here;
  const boards = `/${project.full_path}/-/boards`;
  const { name: guestName } = await sent(as('admin').get(`/users/${people.guest.id}`));
  const browser = await browserOf(here, people.planner);
  const { to } = await browser.send(boards, 'create', { name: 'Kanban' });
  const address = to!;
  const edit = `${address}/edit`;
  assert.match((await browser.get(address)).html, new RegExp(`href="${edit}"`));
  const labels = await Promise.all(
    ['ripe', 'sour'].map((name) => sent(as('planner').post(`/projects/${project.id}/labels`, { name, color: '#abc' }))),
  );
  for (const { id } of labels)
    assert.equal((await browser.send(edit, 'add_list', { label_id: String(id), _key: 'label_id' })).to, edit);
  const again = await browser.send(edit, 'add_list', { label_id: String(labels[0].id), _key: 'label_id' });
  assert.equal(again.status, 400);
  assert.match(again.html, /id="add_list-label_id-label_id-reason">Label has already been taken/);
  const person = { assignee_id: String(people.guest.id), _key: 'assignee_id' };
  assert.equal((await browser.send(edit, 'add_list', person)).to, edit);
  const titles = async () =>
    [...(await browser.get(address)).html.matchAll(/<section>\s*<h2>(?:<span class="label">.*?<\/svg>)?([^<]*)</g)].map(
      ([, title]) => title!.trim(),
    );
  assert.deepEqual(await titles(), ['Open', 'ripe', 'sour', guestName, 'Closed']);

  const { html } = await browser.get(edit);
  const [, right] = /id="(move_list-\d+-1)"/.exec(html)!;
  assert.equal((await browser.send(edit, 'move_list', fieldsIn(html, right!))).to, edit);
  assert.deepEqual(await titles(), ['Open', 'sour', 'ripe', guestName, 'Closed']);
  const [, limits] = /id="(move_list-\d+-limits)"/.exec(html)!;
  const [list_id] = fieldsIn(html, limits!).list_id!;
  const limited = { list_id: list_id!, position: '1', max_issue_count: '3', max_issue_weight: '0' };
  assert.equal((await browser.send(edit, 'move_list', limited)).to, edit);
  assert.match((await browser.get(address)).html, /0 of at most 3/);
  assert.equal((await browser.send(edit, 'remove_list', { list_id: list_id! })).to, edit);
  assert.deepEqual(await titles(), ['Open', 'sour', guestName, 'Closed']);

  const settings = fieldsIn((await browser.get(edit)).html, 'change');
  const changed = { ...settings, name: 'Harvest', labels: 'ripe', hide_closed_list: ['false', 'true'], weight: '2' };
  assert.equal((await browser.send(edit, 'change', changed)).to, address);
  assert.deepEqual(await titles(), ['Open', 'sour', guestName]);
  assert.equal((await browser.send(edit, 'change', { ...settings, name: 'Late' })).status, 409);
  const kept = fieldsIn((await browser.get(edit)).html, 'change');
  assert.deepEqual([kept.name, kept.labels, kept.weight, kept.assignee_id], [['Harvest'], ['ripe'], ['2'], ['0']]);

  // A new card has what the list and the board ask for.
  const sour = /data-list="(\d+)"/.exec((await browser.get(address)).html)![1]!;
  const card = { title: 'Pick ~tall @me', list_id: sour, _key: sour };
  assert.equal((await browser.send(address, 'add', card)).to, address);
  const [issue] = await sent(as('planner').get(`/projects/${project.id}/issues`));
  assert.deepEqual(
    [issue.title, issue.labels, issue.weight, issue.assignees.map(({ id }: { id: number }) => id)],
    ['Pick', ['ripe', 'sour', 'tall'], 2, [people.planner.id]],
  );
  assert.equal((await browser.send(address, 'add', { ...card, title: '' })).status, 400);

  const guest = await browserOf(here, people.guest);
  assert.doesNotMatch((await guest.get(address)).html, /\/edit"/);
  assert.match((await guest.get(edit)).html, /You may not change this board/);
  assert.equal((await browser.send(edit, 'remove')).to, boards);
  assert.equal((await browser.get(address)).status, 404);
});

test('a card is moved up and down in its list', async () => {
  const here = await world();
  const { project, people } = here;
  const browser = await browserOf(here, people.planner);
  const { to } = await browser.send(`/${project.full_path}/-/boards`, 'create', { name: 'Order' });
  for (const title of ['One', 'Two', 'Three']) await addIssue(here, { title });
  const order = async () =>
    [...(await browser.get(to!)).html.matchAll(/<li class="card"><a class="title"[^>]*>(\w+)/g)].map(
      ([, title]) => title,
    );
  const before = await order();
  const { html } = await browser.get(to!);
  const downs = [...html.matchAll(/id="(move-open-\d+-down)"/g)].map(([, id]) => id!);
  assert.equal(downs.length, 2);
  assert.equal((await browser.send(to!, 'move', fieldsIn(html, downs[0]!))).to, to);
  assert.deepEqual(await order(), [before[1], before[0], before[2]]);
});
