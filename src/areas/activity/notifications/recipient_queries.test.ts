import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailOf } from '../../../../test/support/mail.ts';
import { fileUrl, onMain } from '../../../../test/support/repository.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import type { Mail } from '../../../mail/index.ts';
import { collectNotifications, sendNotification } from './index.ts';

/** The messages since the last call, by the personas who get them. */
async function received({ services, people }: World): Promise<Partial<Record<Persona, Mail>>> {
  const mails = await mailOf(services, [collectNotifications, sendNotification]);
  const personas = Object.entries(people) as [Persona, { username: string }][];
  const to = ({ to: { address } }: Mail) => personas.find(([, { username }]) => address.startsWith(`${username}@`))![0];
  const entries = mails.map((mail) => [to(mail), mail] as const).sort();
  assert.equal(new Set(entries.map(([persona]) => persona)).size, entries.length, 'each gets one message');
  return Object.fromEntries(entries);
}

const link = ({ paragraphs }: Mail) =>
  paragraphs.flatMap((each) => (typeof each === 'object' && 'url' in each ? [each.url] : []));

test('authors, commenters and watchers are notified of comments on snippets and commits', async () => {
  const here = await world({});
  const { as, people, project } = here;
  await as('reporter').put(`/projects/${project.id}/notification_settings`, { level: 'watch' });
  const files = [{ file_path: 'a.txt', content: 'a' }];
  const snippet = (
    await as('developer').post(`/projects/${project.id}/snippets`, { title: 'How to', visibility: 'private', files })
  ).body;
  const onSnippet = `/projects/${project.id}/snippets/${snippet.id}/notes`;
  const note = (
    await as('guest').post(onSnippet, { body: `Look, @${people.maintainer.username} and @${people.outsider.username}` })
  ).body;
  const first = await received(here);
  assert.deepEqual(Object.keys(first), ['developer', 'maintainer', 'reporter'], 'outsiders cannot read it');
  const mail = first.developer!;
  const { name } = (await as('owner').get(`/projects/${project.id}`)).body;
  assert.deepEqual(
    [mail.subject, mail.thread, mail.id],
    [`Re: ${name} | How to ($${snippet.id})`, `project_snippet_${snippet.id}`, `note_${note.id}`],
  );
  assert.deepEqual(link(mail), [`${here.services.url}/${project.full_path}/-/snippets/${snippet.id}#note_${note.id}`]);
  assert.deepEqual(
    [mail.headers!['X-Service-Snippet-ID'], mail.headers!['List-Unsubscribe']],
    [String(snippet.id), undefined],
  );
  assert.equal(first.maintainer!.headers!['X-Service-NotificationReason'], 'mentioned');
  await as('owner').post(onSnippet, { body: 'Thanks' });
  assert.deepEqual(Object.keys(await received(here)), ['developer', 'guest', 'maintainer', 'reporter']);

  const { email } = (await as('developer').get('/user')).body;
  const change = {
    ...onMain,
    content: 'a\n',
    commit_message: 'Sow the beans\n\nin rows',
    author_email: email,
    author_name: 'A',
  };
  assert.equal((await as('owner').post(fileUrl(project, 'beans.txt'), change)).status, 201);
  const { id: sha } = (await as('owner').get(`/projects/${project.id}/repository/commits/main`)).body;
  assert.equal(
    (await as('owner').post(`/projects/${project.id}/repository/commits/${sha}/comments`, { note: 'Why?' })).status,
    201,
  );
  const ofCommit = await received(here);
  assert.deepEqual(Object.keys(ofCommit), ['developer', 'reporter'], 'its author and those who watch');
  assert.equal(ofCommit.developer!.subject, `Re: ${name} | Sow the beans (${sha.slice(0, 8)})`);
  assert.equal(ofCommit.developer!.headers!['X-Service-Commit-ID'], sha);
});

test('participants hear that an issue has moved, and members that their project has', async () => {
  const here = await world({});
  const { as, people, project, group } = here;
  for (const persona of ['reporter', 'planner'] as const)
    await as(persona).put(`/projects/${project.id}/notification_settings`, {
      level: persona === 'planner' ? 'disabled' : 'watch',
    });
  const there = (await as('owner').post('/projects', { name: 'Elsewhere', namespace_id: group.id })).body;
  const issue = { title: 'Prune the trees', assignee_ids: [people.developer.id] };
  const { iid } = (await as('owner').post(`/projects/${project.id}/issues`, issue)).body;
  await received(here);
  const moved = await as('owner').post(`/projects/${project.id}/issues/${iid}/move`, { to_project_id: there.id });
  assert.equal(moved.status, 201);
  const ofMove = await received(here);
  assert.deepEqual(Object.keys(ofMove), ['developer'], 'not those who only watch');
  assert.match(ofMove.developer!.paragraphs[0] as string, /moved issue #\d+: Prune the trees$/);

  const path = `renamed-${project.id}`;
  assert.equal((await as('owner').put(`/projects/${project.id}`, { description: 'Same place' })).status, 200);
  assert.deepEqual(await received(here), {});
  assert.equal((await as('owner').put(`/projects/${project.id}`, { path })).status, 200);
  const ofRenaming = await received(here);
  assert.deepEqual(
    Object.keys(ofRenaming),
    ['developer', 'guest', 'maintainer', 'reporter'],
    'all members but those who want nothing',
  );
  const mail = ofRenaming.guest!;
  assert.match(mail.paragraphs[0] as string, new RegExp(`moved project to ${group.full_path}/${path}$`));
  assert.match(mail.subject, / \| Project was moved$/);
  await as('guest').put('/notification_settings', { level: 'custom' });
  await as('developer').put('/notification_settings', { level: 'custom', moved_project: true });
  const own = (await as('owner').get('/user')).body.username;
  const transferred = await as('admin').put(`/projects/${project.id}/transfer`, { namespace: own });
  assert.equal(transferred.status, 200);
  const afterwards = await received(here);
  assert.ok(!('guest' in afterwards) && !('planner' in afterwards));
});

test('members of a group hear of its epics', async () => {
  const here = await world({});
  const { as, group, people } = here;
  await as('developer').put(`/groups/${group.id}/notification_settings`, { level: 'watch' });
  await as('reporter').put(`/groups/${group.id}/notification_settings`, { level: 'custom', new_epic: true });
  const description = `Ask @${people.guest.username}`;
  const epic = (await as('owner').post(`/groups/${group.id}/epics`, { title: 'A new orchard', description })).body;
  const at = `/groups/${group.id}/epics/${epic.iid}`;
  const first = await received(here);
  assert.deepEqual(Object.keys(first), ['developer', 'guest', 'reporter']);
  const { name } = (await as('owner').get(`/groups/${group.id}`)).body;
  assert.deepEqual(
    [first.guest!.subject, first.guest!.id],
    [`${name} | A new orchard (&${epic.iid})`, `epic_${epic.id}`],
  );
  assert.equal(first.guest!.headers!['X-Service-Group-Path'], group.full_path);
  assert.equal((await as('guest').post(`${at}/notes`, { body: 'Good' })).status, 201);
  assert.deepEqual(Object.keys(await received(here)), ['developer', 'owner']);
  await as('owner').put(at, { state_event: 'close' });
  assert.deepEqual(Object.keys(await received(here)), ['developer', 'guest']);
  await as('owner').put(`/groups/${group.id}`, { emails_enabled: false });
  await as('owner').put(at, { state_event: 'reopen' });
  assert.deepEqual(await received(here), {}, 'the group sends no mail');
});
