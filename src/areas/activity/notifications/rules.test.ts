import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { mailbox } from '../../../../test/support/mail.ts';
import { addBranch, addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { mailerFor } from '../../../mail/index.ts';
import { tellOfDueIssues } from '../../work/issues/index.ts';
import { concludeMerges, followMergeRequests } from '../../work/merge_requests/index.ts';
import { collectNotifications, sendNotification } from './index.ts';
import { eventSettings, mailEvents } from './rules.ts';

const relations = ['takes part', 'is mentioned', 'subscribed', 'none'] as const;
const allOn = Object.fromEntries([...eventSettings, 'new_epic'].map((event) => [event, true]));
const levels: Readonly<Record<string, object>> = {
  disabled: { level: 'disabled' },
  participating: { level: 'participating' },
  mention: { level: 'mention' },
  watch: { level: 'watch' },
  'custom, all off': { level: 'custom' },
  'custom, all on': { level: 'custom', ...allOn },
};

/** What docs/reference/notifications.md says. */
function isTold(event: string, relation: string, level: string): boolean {
  if (relation === 'subscribed') return true;
  if (level === 'disabled') return false;
  if (relation === 'is mentioned') return true;
  if (relation === 'takes part') return level !== 'mention';
  if (level === 'watch') return mailEvents[event]!.watched ?? false;
  return level === 'custom, all on' && event in allOn;
}

/** A member for each relation and level. */
async function everyone({ as, group, person }: World) {
  const people = [];
  for (const relation of relations)
    for (const level of Object.keys(levels)) {
      const { id, username, client } = await person();
      assert.equal(
        (await as('owner').post(`/groups/${group.id}/members`, { user_id: id, access_level: 20 })).status,
        201,
      );
      assert.equal((await client.put(`/groups/${group.id}/notification_settings`, { ...levels[level] })).status, 200);
      people.push({ relation, level, username, client });
    }
  return people;
}

test('each event reaches the users whom their level and relation include', async (t) => {
  const here = await worldWithTopic();
  const { as, group, people: personas, project, services } = here;
  const people = await everyone(here);
  const owner = as('owner');
  const mentions = people
    .flatMap(({ relation, username }) => (relation === 'is mentioned' ? [`@${username}`] : []))
    .join(' ');

  const { url: smtpUrl, received } = await mailbox(t);
  const mailer = mailerFor({
    smtpUrl,
    from: { name: 'Coppice', address: 'forge@coppice.test' },
    folder: '/nonexistent',
  });

  async function news(): Promise<string[]> {
    await performQueued(services, [followMergeRequests, concludeMerges]);
    await performQueued({ ...services, mailer }, [collectNotifications, sendNotification]);
    const names = received.splice(0).map(({ recipients }) => recipients[0]!.split('@')[0]);
    return people.flatMap(({ username, relation, level }) =>
      names.filter((name) => name === username).map(() => `${relation}, ${level}`),
    );
  }
  /** Nobody is mentioned by what has no text. */
  async function tells(event: string, hasText = false): Promise<void> {
    const expected = people.filter(({ relation, level }) =>
      isTold(event, relation === 'is mentioned' && !hasText ? 'none' : relation, level),
    );
    assert.deepEqual(
      await news(),
      expected.map(({ relation, level }) => `${relation}, ${level}`),
      event,
    );
  }
  async function relate(at: string): Promise<void> {
    for (const { relation, client } of people) {
      if (relation === 'takes part')
        assert.equal((await client.post(`${at}/notes`, { body: 'I take part' })).status, 201);
      if (relation === 'subscribed') assert.equal((await client.post(`${at}/subscribe`)).status, 201);
    }
    await news();
  }
  const change = async (at: string, body: object) => assert.equal((await owner.put(at, { ...body })).status, 200);
  const comment = async (at: string) =>
    assert.equal((await owner.post(`${at}/notes`, { body: `What about ${mentions}?` })).status, 201);

  const issue = `/projects/${project.id}/issues/${(await owner.post(`/projects/${project.id}/issues`, { title: 'Prune' })).body.iid}`;
  await relate(issue);
  await change(issue, { state_event: 'close' });
  await tells('close_issue');
  await change(issue, { state_event: 'reopen' });
  await tells('reopen_issue');
  await change(issue, { assignee_ids: [personas.developer.id] });
  await tells('reassign_issue');
  await change(issue, { due_date: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10) });
  await news();
  await here.db.deleteFrom('due_notices').execute();
  await performJob(services, tellOfDueIssues);
  await tells('issue_due');
  await comment(issue);
  await tells('new_note', true);

  const { iid } = await addMergeRequest(here, { title: 'Draft: Reap' });
  const mergeRequest = `/projects/${project.id}/merge_requests/${iid}`;
  await relate(mergeRequest);
  await change(mergeRequest, { title: 'Reap' });
  await tells('ready_merge_request');
  await change(mergeRequest, { state_event: 'close' });
  await tells('close_merge_request');
  await change(mergeRequest, { state_event: 'reopen' });
  await tells('reopen_merge_request');
  await change(mergeRequest, { assignee_ids: [personas.developer.id] });
  await tells('reassign_merge_request');
  await change(mergeRequest, { reviewer_ids: [personas.developer.id] });
  await tells('change_reviewer_merge_request');
  await change(fileUrl(project, 'topic.txt'), { ...onMain, branch: 'topic', content: 'more\n' });
  await tells('push_to_merge_request');
  await comment(mergeRequest);
  await tells('new_note', true);
  /** Who was mentioned before takes part. */
  async function tellsOf(event: string): Promise<void> {
    const isPart = (relation: string) => (relation === 'is mentioned' ? 'takes part' : relation);
    const expected = people.filter(({ relation, level }) => isTold(event, isPart(relation), level));
    assert.deepEqual(
      await news(),
      expected.map(({ relation, level }) => `${relation}, ${level}`),
      event,
    );
  }
  assert.equal((await as('maintainer').post(`${mergeRequest}/approve`)).status, 201);
  await tellsOf('approve_merge_request');
  const merge = async (waits: boolean) => {
    const setting = { only_allow_merge_if_pipeline_succeeds: waits };
    assert.equal((await as('maintainer').put(`/projects/${project.id}`, setting)).status, 200);
    assert.equal((await as('maintainer').put(`${mergeRequest}/merge`, { auto_merge: waits })).status, 200);
  };
  await merge(true);
  await tellsOf('merge_when_pipeline_succeeds');
  await merge(false);
  await tellsOf('merge_merge_request');

  // What is new: it is subscribed to through its label, and those who take part are mentioned in it.
  const { body: label } = await owner.post(`/groups/${group.id}/labels`, { name: 'urgent', color: 'red' });
  for (const { relation, client } of people)
    if (relation === 'subscribed')
      assert.equal((await client.post(`/groups/${group.id}/labels/${label.id}/subscribe`)).status, 201);
  const fresh = { title: 'New', description: mentions, labels: 'urgent' };
  const tellsOfNew = async (event: string) =>
    assert.deepEqual(
      await news(),
      people
        .filter(({ relation, level }) => isTold(event, relation === 'takes part' ? 'none' : relation, level))
        .map(({ relation, level }) => `${relation}, ${level}`),
      event,
    );
  assert.equal((await owner.post(`/projects/${project.id}/issues`, fresh)).status, 201);
  await tellsOfNew('new_issue');
  assert.equal((await owner.post(`/groups/${group.id}/epics`, fresh)).status, 201);
  await tellsOfNew('new_epic');
  await addBranch(here, 'other');
  const other = { ...fresh, source_branch: 'other', target_branch: 'main' };
  assert.equal((await owner.post(`/projects/${project.id}/merge_requests`, other)).status, 201);
  await tellsOfNew('new_merge_request');
});
