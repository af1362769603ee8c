import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { type World, world } from '../../../../test/support/world.ts';

const systemNotes = async ({ db }: World, issue_id: number) =>
  (
    await db
      .selectFrom('notes')
      .select('body')
      .where('issue_id', '=', issue_id)
      .where('system', '=', true)
      .orderBy('id')
      .execute()
  ).map(({ body }) => body);

test('commands in the description of a new issue are applied and removed', async () => {
  const here = await world();
  const { people, project, as } = here;
  const other = await addIssue(here);
  const description = [
    'What is left.',
    '',
    `/assign @${people.guest.username}`,
    '/label ~kept',
    '/due 2031-02-03',
    '/weight 3',
    '/estimate 1d',
    '/spend 2h',
    '/confidential',
    `/relate #${other.iid}`,
  ].join('\n');
  await as('owner').post(`/projects/${project.id}/labels`, { name: 'kept', color: '#00ff00' });
  const issue = await addIssue(here, { description }, 'reporter');
  assert.equal(issue.description?.trim(), 'What is left.');
  assert.deepEqual(
    [issue.assignee?.id, issue.labels, issue.due_date, issue.weight, issue.confidential],
    [people.guest.id, ['kept'], '2031-02-03', 3, true],
  );
  assert.deepEqual([issue.time_stats.human_time_estimate, issue.time_stats.human_total_time_spent], ['1d', '2h']);
  const links = await as('reporter').get(`/projects/${project.id}/issues/${issue.iid}/links`);
  assert.deepEqual(
    links.body.map(({ iid }: { iid: number }) => iid),
    [other.iid],
  );
});

test('a duplicate is closed, and both issues get a system note', async () => {
  const here = await world();
  const { project, as } = here;
  const [first, second] = [await addIssue(here), await addIssue(here)];
  const path = `/projects/${project.id}/issues/${second.iid}`;
  const { status } = await as('reporter').post(`${path}/notes`, { body: `/duplicate #${first.iid}` });
  assert.ok(status === 201 || status === 202, String(status));
  const { body } = await as('reporter').get(path);
  assert.equal(body.state, 'closed');
  assert.match(body._links.closed_as_duplicate_of, new RegExp(`/projects/${project.id}/issues/${first.iid}$`));
  assert.ok((await systemNotes(here, second.id)).includes(`marked this issue as a duplicate of #${first.iid}`));
  assert.ok((await systemNotes(here, first.id)).includes(`marked #${second.iid} as a duplicate of this issue`));
  const opened = await as('reporter').put(path, { state_event: 'reopen' });
  assert.equal(opened.body._links.closed_as_duplicate_of, null);
});

test('a mentioned issue gets a system note, visible to readers of the source', async () => {
  const here = await world();
  const first = await addIssue(here);
  const second = await addIssue(here, { description: `See #${first.iid}.` }, 'guest');
  assert.deepEqual(await systemNotes(here, first.id), [`mentioned in issue #${second.iid}`]);
  await here
    .as('guest')
    .put(`/projects/${here.project.id}/issues/${second.iid}`, { description: `See #${first.iid} again.` });
  assert.deepEqual(await systemNotes(here, first.id), [`mentioned in issue #${second.iid}`]);
});

test('a promoted issue becomes an epic with its comments, and is closed', async () => {
  const here = await world();
  const { as, project, group } = here;
  const issue = await addIssue(here, { title: 'Grown', description: `See #1.`, confidential: true });
  const path = `/projects/${project.id}/issues/${issue.iid}`;
  await as('developer').post(`${path}/notes`, { body: 'Too large' });
  await as('reporter').post(`${path}/notes`, { body: '/promote' });
  const closed = (await as('reporter').get(path)).body;
  assert.equal(closed.state, 'closed');
  assert.ok((await systemNotes(here, issue.id)).includes('promoted to epic &1'));
  const { status, body: epic } = await as('reporter').get(`/groups/${group.id}/epics/1`);
  assert.equal(status, 200);
  assert.deepEqual([epic.title, epic.description, epic.confidential], ['Grown', `See ${project.full_path}#1.`, true]);
  const notes = await here.db.selectFrom('notes').select('body').where('epic_id', '=', epic.id).orderBy('id').execute();
  assert.ok(notes.some(({ body }) => body === 'Too large'));
  assert.equal(notes.at(-1)?.body, `promoted from issue ${project.full_path}#${issue.iid}`);
});
