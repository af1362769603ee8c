/** Who hears of an issue that is moved between the lists of a board. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';
import { collectNotifications, sendNotification } from '../../activity/notifications/index.ts';

test('webhooks receive the changed labels, and subscribers of the new one get mail', async (t) => {
  const here = await world({});
  const { as, project, people, services } = here;
  await allowLocalHooks(here);
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  const at = `/projects/${project.id}`;
  const hook = { url: `${receiver.url}/board`, push_events: false, issues_events: true };
  await sent(as('maintainer').post(`${at}/hooks`, hook));
  const board = `${at}/boards/${(await sent(as('planner').post(`${at}/boards`, { name: 'Kanban' }))).id}`;
  const listOf = async (name: string) => {
    const { id: label_id } = await sent(as('owner').post(`${at}/labels`, { name, color: '#aabbcc' }));
    return { label_id, list_id: (await sent(as('planner').post(`${board}/lists`, { label_id }))).id };
  };
  const [todo, doing] = [await listOf('todo'), await listOf('doing')];
  await sent(as('reporter').post(`${at}/labels/${doing.label_id}/subscribe`));
  const issue = await addIssue(here, { title: 'Prune', labels: 'todo' });
  const news = async () => {
    await sendHooks(here);
    const mails = await mailOf(services, [collectNotifications, sendNotification]);
    return { told: receiver.take(), mails: mails.map(({ to }) => to.address) };
  };
  await news();

  const move = (parameters: Record<string, unknown>) =>
    sent(as('planner').put(`${board}/issues/${issue.id}/move`, parameters));
  await move({ from_list_id: todo.list_id, to_list_id: doing.list_id });
  const { told, mails } = await news();
  assert.equal(told.length, 1);
  const [{ headers, body }] = told as [(typeof told)[0]];
  assert.equal(headers['x-gitlab-event'], 'Issue Hook');
  assert.deepEqual(
    [body.object_kind, body.object_attributes.action, body.object_attributes.iid, body.user.username],
    ['issue', 'update', issue.iid, people.planner.username],
  );
  const titles = (labels: { title: string }[]) => labels.map(({ title }) => title);
  assert.deepEqual([titles(body.changes.labels.previous), titles(body.changes.labels.current)], [['todo'], ['doing']]);
  assert.deepEqual(titles(body.labels), ['doing']);
  assert.equal(mails.length, 1);
  assert.ok(mails[0]!.startsWith(`${people.reporter.username}@`));
  const events = (await as('planner').get(`${at}/issues/${issue.iid}/resource_label_events`)).body;
  assert.deepEqual(
    events.map(({ action, label }: { action: string; label: { name: string } }) => `${action} ${label.name}`).sort(),
    ['add doing', 'add todo', 'remove todo'],
  );

  const other = await addIssue(here, { title: 'Graft', labels: 'doing' });
  await news();
  await move({ to_list_id: doing.list_id, move_after_id: other.id });
  assert.deepEqual(await news(), { told: [], mails: [] }, 'a position is not news');
});
