import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { mailbox, mailOf } from '../../../../test/support/mail.ts';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../test/support/repository.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { mailerFor } from '../../../mail/index.ts';
import { tellOfDueIssues } from '../../work/issues/index.ts';
import { concludeMerges, followMergeRequests } from '../../work/merge_requests/index.ts';
import { collectNotifications, sendNotification } from './index.ts';

const jobs = [collectNotifications, sendNotification];

/** The personas who get mail for what has happened since the last call, with the reasons. */
async function news({ services, people }: World): Promise<string[]> {
  const mails = await mailOf(services, jobs);
  const names = Object.entries(people).map(([persona, { username }]) => [username, persona] as const);
  const byAddress = (address: string) => names.find(([username]) => address.startsWith(`${username}@`))![1];
  return mails
    .map(({ to, headers }) => `${byAddress(to.address)} ${headers!['X-Service-NotificationReason'] ?? '-'}`)
    .sort();
}

const set = async (here: World, persona: Persona, place: string, body: object) => {
  const { status } = await here.as(persona).put(`${place}/notification_settings`, { ...body });
  assert.equal(status, 200);
};

async function newIssue({ as, project }: World, body: object = {}): Promise<string> {
  const { iid } = (await as('owner').post(`/projects/${project.id}/issues`, { title: 'Prune the trees', ...body }))
    .body;
  return `/projects/${project.id}/issues/${iid}`;
}

test('each level delivers messages according to the relation to the issue', async () => {
  const here = await world({});
  const { as, people } = here;
  const related: Persona[] = ['reporter', 'maintainer', 'planner', 'developer'];
  const expected: [settings: object, news: string[]][] = [
    [{ level: 'disabled' }, ['planner subscribed']],
    [{ level: 'mention' }, ['maintainer mentioned', 'planner subscribed']],
    [{ level: 'participating' }, ['maintainer mentioned', 'planner subscribed', 'reporter -']],
    [{ level: 'custom' }, ['maintainer mentioned', 'planner subscribed', 'reporter -']],
    [{ new_note: true }, ['developer -', 'maintainer mentioned', 'planner subscribed', 'reporter -']],
    [{ level: 'watch' }, ['developer -', 'maintainer mentioned', 'planner subscribed', 'reporter -']],
  ];
  for (const [settings, recipients] of expected) {
    const issue = await newIssue(here);
    await as('reporter').post(`${issue}/notes`, { body: 'I take part' });
    await as('planner').post(`${issue}/subscribe`);
    await news(here);
    for (const persona of related) await set(here, persona, '', settings);
    await as('owner').post(`${issue}/notes`, { body: `What do you say, @${people.maintainer.username}?` });
    assert.deepEqual(await news(here), recipients, JSON.stringify(settings));
  }
});

test('the nearest setting counts: of the project, of a group, of everything', async () => {
  const here = await world({});
  const { as, project, group } = here;
  const issue = await newIssue(here);
  await news(here);
  const tellsDeveloper = async () => {
    await as('owner').post(`${issue}/notes`, { body: 'News' });
    return (await news(here)).length > 0;
  };
  await set(here, 'developer', '', { level: 'watch' });
  assert.equal(await tellsDeveloper(), true);
  await set(here, 'developer', `/groups/${group.id}`, { level: 'mention' });
  assert.equal(await tellsDeveloper(), false);
  await set(here, 'developer', `/projects/${project.id}`, { level: 'watch' });
  assert.equal(await tellsDeveloper(), true);
  await set(here, 'developer', `/projects/${project.id}`, { level: 'global' });
  assert.equal(await tellsDeveloper(), false);
  await as('owner').put(`/projects/${project.id}`, { emails_enabled: false });
  await set(here, 'developer', `/projects/${project.id}`, { level: 'watch' });
  assert.equal(await tellsDeveloper(), false, 'the project sends no mail');
});

test('users are notified of an issue from its creation to its end, but not of their own actions or of issues that they may not read', async () => {
  const here = await world({});
  const { as, people, project } = here;
  const issue = await newIssue(here, {
    assignee_ids: [people.developer.id],
    description: `Ask @${people.reporter.username} and @${people.outsider.username}`,
  });
  assert.deepEqual(await news(here), ['developer assigned', 'reporter mentioned'], 'outsiders may not read it');
  await as('developer').put(issue, { assignee_ids: [people.maintainer.id] });
  assert.deepEqual(await news(here), ['maintainer assigned', 'owner -', 'reporter -']);
  await as('maintainer').put(issue, { state_event: 'close' });
  assert.deepEqual(await news(here), ['owner -', 'reporter -']);
  await as('maintainer').put(issue, { state_event: 'reopen' });
  assert.deepEqual(await news(here), ['owner -', 'reporter -']);
  await as('guest').post(`${issue}/notes`, { body: 'Here I am' });
  await news(here);
  await as('owner').post(`${issue}/notes`, { body: 'Between us', internal: true });
  assert.deepEqual(await news(here), ['maintainer assigned', 'reporter -'], 'guests do not read internal notes');
  await as('reporter').post(`${issue}/unsubscribe`);
  await as('owner').post(`${issue}/notes`, { body: 'Are you there?' });
  assert.deepEqual(await news(here), ['guest -', 'maintainer assigned']);
  const { id } = (await as('owner').post(`${issue}/notes`, { body: 'Never mind' })).body;
  await as('owner').delete(`${issue}/notes/${id}`);
  assert.deepEqual(await news(here), [], 'it is gone');
  await as('owner').post(`/projects/${project.id}/issues/${issue.split('/').at(-1)}/notes`, { body: '/close' });
  assert.deepEqual(await news(here), ['guest -', 'maintainer assigned']);
});

test('mail goes to users who are mentioned later, subscribe to a new label or have an issue due tomorrow', async () => {
  const here = await world({});
  const { as, people, project, db } = here;
  const { body: label } = await as('owner').post(`/projects/${project.id}/labels`, { name: 'urgent', color: 'red' });
  await as('reporter').post(`/projects/${project.id}/labels/${label.id}/subscribe`);
  const { body: milestone } = await as('owner').post(`/projects/${project.id}/milestones`, { title: 'Spring' });
  const issue = await newIssue(here, { description: 'All said', assignee_ids: [people.developer.id] });
  await news(here);
  await as('owner').put(issue, { description: `All said, @${people.guest.username}` });
  assert.deepEqual(await news(here), ['guest mentioned']);
  const { id } = (await as('owner').post(`${issue}/notes`, { body: 'Almost' })).body;
  await news(here);
  await as('owner').put(`${issue}/notes/${id}`, { body: `Almost, @${people.planner.username}` });
  assert.deepEqual(await news(here), ['planner mentioned']);
  await as('owner').put(issue, { add_labels: 'urgent' });
  assert.deepEqual(await news(here), ['reporter subscribed']);
  await as('owner').put(issue, { milestone_id: milestone.id });
  assert.deepEqual(await news(here), ['developer assigned', 'guest -', 'planner -']);

  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await as('owner').put(issue, { due_date: tomorrow });
  await newIssue(here, { due_date: new Date(Date.now() + 172_800_000).toISOString().slice(0, 10) });
  await news(here);
  const due = async () => {
    await performJob(here.services, tellOfDueIssues);
    return news(here);
  };
  await db.deleteFrom('due_notices').execute();
  assert.deepEqual(await due(), ['developer assigned', 'guest -', 'owner -', 'planner -']);
  assert.deepEqual(await due(), [], 'once a day');
});

test('people hear of a merge request: its reviews, pushes to it, and its merge', async () => {
  const here = await worldWithTopic();
  const { as, people, project } = here;
  await set(here, 'owner', `/projects/${project.id}`, { level: 'watch' });
  await set(here, 'maintainer', `/projects/${project.id}`, { level: 'custom', push_to_merge_request: true });
  const { iid } = await addMergeRequest(here, { reviewer_ids: [people.maintainer.id] });
  const mr = `/projects/${project.id}/merge_requests/${iid}`;
  assert.deepEqual(await news(here), ['maintainer review_requested', 'owner -']);
  await as('developer').put(mr, { reviewer_ids: [people.reporter.id] });
  assert.deepEqual(await news(here), ['maintainer -', 'owner -', 'reporter review_requested']);
  await as('developer').put(fileUrl(project, 'topic.txt'), { ...onMain, branch: 'topic', content: 'more\n' });
  await performQueued(here.services, [followMergeRequests]);
  assert.deepEqual(
    await news(here),
    ['maintainer -', 'reporter review_requested'],
    'those who watch do not hear of pushes',
  );
  assert.equal((await as('maintainer').post(`${mr}/approve`)).status, 201);
  assert.deepEqual(await news(here), ['developer -', 'owner -', 'reporter review_requested']);
  assert.equal((await as('maintainer').put(`${mr}/merge`)).status, 200);
  await performQueued(here.services, [concludeMerges]);
  assert.deepEqual(await news(here), ['developer -', 'owner -', 'reporter review_requested']);
});

test('people hear that a merge request is ready, is to be merged automatically, and has conflicts', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await set(here, 'owner', `/projects/${project.id}`, { level: 'watch' });
  await set(here, 'guest', `/projects/${project.id}`, { level: 'custom', merge_when_pipeline_succeeds: true });
  await set(here, 'reporter', `/projects/${project.id}`, { level: 'custom', merge_when_pipeline_succeeds: true });
  const { iid } = await addMergeRequest(here, { title: 'Draft: Reap' });
  const mr = `/projects/${project.id}/merge_requests/${iid}`;
  await news(here);
  await as('developer').put(mr, { title: 'Reap' });
  assert.deepEqual(await news(here), ['owner -']);
  await as('developer').put(mr, { title: 'Draft: Reap' });
  assert.deepEqual(await news(here), [], 'of drafts nobody is told');
  await as('developer').put(mr, { title: 'Reap' });
  await news(here);
  await as('maintainer').put(`/projects/${project.id}`, { only_allow_merge_if_pipeline_succeeds: true });
  assert.equal((await as('maintainer').put(`${mr}/merge`, { auto_merge: true })).status, 200);
  assert.deepEqual(await news(here), ['developer -', 'owner -', 'reporter -'], 'guests do not read merge requests');
  const push = async (file: string) => {
    const pushed = await as('maintainer').post(fileUrl(project, file), { ...onMain, content: 'another\n' });
    assert.equal(pushed.status, 201);
    await performQueued(here.services, [followMergeRequests]);
    return (await as('reporter').get(mr)).body.has_conflicts;
  };
  assert.equal(await push('topic.txt'), true);
  assert.deepEqual(await news(here), ['developer -', 'maintainer -']);
  assert.equal(await push('elsewhere.txt'), true);
  assert.deepEqual(await news(here), [], 'they know');
});

test('uploads in a message lead to where they are', async () => {
  const here = await world({});
  const { as, project, services } = here;
  await set(here, 'developer', '', { level: 'watch' });
  const issue = await newIssue(here);
  const file = `/uploads/${'0a'.repeat(16)}/pear.png`;
  await as('owner').post(`${issue}/notes`, { body: `![pear](${file})` });
  const [, mail] = await mailOf(services, jobs);
  const address = `${services.url}/-/project/${project.id}${file}`;
  assert.ok(JSON.stringify(mail!.paragraphs).includes(address), JSON.stringify(mail!.paragraphs));
});

test('messages form a thread, describe the event, and can be stopped with one click', async (t) => {
  const here = await world({});
  const { as, people, services, project, url } = here;
  const { url: smtpUrl, received } = await mailbox(t);
  const mailer = mailerFor({
    smtpUrl,
    from: { name: 'Coppice', address: 'forge@coppice.test' },
    folder: '/nonexistent',
  });
  const send = () => performQueued({ ...services, mailer }, jobs);
  const issue = await newIssue(here, {
    description: 'With **care** ![seen](https://spy.example/1.png) <img src="https://spy.example/2.png" alt="sown">',
    assignee_ids: [people.developer.id],
  });
  const { id, iid } = (await as('owner').get(issue)).body;
  await send();
  const note = (await as('owner').post(`${issue}/notes`, { body: 'Now <b>please</b>' })).body;
  await send();
  const [first, second] = received;
  assert.equal(first!.messageId, `<issue_${id}@coppice.test>`);
  assert.equal(second!.messageId, `<note_${note.id}@coppice.test>`);
  assert.deepEqual([second!.inReplyTo, second!.references], [first!.messageId, first!.messageId]);
  const { name } = (await as('owner').get(`/projects/${project.id}`)).body;
  assert.deepEqual(
    [first!.subject, second!.subject],
    ['', 'Re: '].map((re) => `${re}${name} | Prune the trees (#${iid})`),
  );
  assert.equal(first!.from!.name, (await as('owner').get('/user')).body.name);
  assert.match(first!.html!, /<strong>care<\/strong> <span>seen https:\/\/spy\.example\/1\.png<\/span>/);
  assert.match(
    first!.text!,
    /With \*\*care\*\* !\[seen\]\(https:\/\/spy\.example\/1\.png\) sown https:\/\/spy\.example\/2\.png\n/,
  );
  assert.match(second!.text!, /because it is assigned to you\./);
  const header = (key: string) => second!.headers.find((each) => each.key === key.toLowerCase())?.value;
  for (const prefix of ['X-Service-', 'X-Gitlab-']) {
    assert.equal(header(`${prefix}Project-Path`), project.full_path);
    assert.equal(header(`${prefix}Issue-IID`), String(iid));
    assert.equal(header(`${prefix}NotificationReason`), 'assigned');
  }
  assert.match(header('List-Id')!, new RegExp(`^${project.full_path} <${project.id}\\.`));
  assert.equal(header('List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click');

  const link = url + new URL(/<(.*)>/.exec(header('List-Unsubscribe')!)![1]!).pathname;
  const post = (address: string) =>
    fetch(address, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  assert.equal((await fetch(link)).status, 200);
  const forged = link.replace(/.(?=\/unsubscribe$)/, (last) => (last === 'A' ? 'E' : 'A'));
  assert.equal((await post(forged)).status, 404);
  assert.equal((await as('developer').get(issue)).body.subscribed, true, 'opening the link changes nothing');
  assert.equal((await post(link)).status, 200);
  assert.equal((await as('developer').get(issue)).body.subscribed, false);
  await as('owner').post(`${issue}/notes`, { body: 'And now?' });
  await send();
  assert.equal(received.length, 2);
});
