import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { fileUrl, headOf, onMain } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { placeOf } from '../../../git/index.ts';
import { concludeMerges, followMergeRequests } from '../../work/merge_requests/index.ts';
import { announceEvents } from './index.ts';

let receiver: Receiver;
let here: World;
before(async () => {
  receiver = await startReceiver();
  here = await worldWithTopic({});
  await allowLocalHooks(here);
});
after(() => receiver.stop());

/** Adds a hook for only these events, and removes it after the test. */
async function hookFor(
  t: { after(run: () => unknown): void },
  names: readonly string[],
  base = `/projects/${here.project.id}/hooks`,
  more = {},
) {
  const flags = Object.fromEntries(names.map((name) => [name, true]));
  const added = await here
    .as('admin')
    .post(base, { url: `${receiver.url}${base}`, push_events: false, ...flags, ...more });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  t.after(async () => {
    await here.as('admin').delete(`${base}/${added.body.id}`);
    receiver.take();
  });
  /** The body of the sample for a trigger. */
  return async (trigger: string) => {
    assert.equal((await here.as('admin').post(`${base}/${added.body.id}/test/${trigger}`)).status, 201);
    return receiver.take()[0]!.body;
  };
}

/** The bodies of what is sent now. */
async function received() {
  await sendHooks(here);
  return receiver.take().map(({ headers, body }) => ({ ...body, event: headers['x-gitlab-event'] }));
}

test('a push to a branch lists its commits and their files, and one that the filter excludes triggers nothing', async (t) => {
  await hookFor(t, ['push_events'], undefined, { push_events_branch_filter: 'release-*' });
  const before = await headOf(here);
  const { project, as, people } = here;
  const edit = { ...onMain, commit_message: 'Sow\n\nbeans', content: 'three\n' };
  await as('maintainer').put(fileUrl(project, 'README.md'), edit);
  assert.deepEqual(await received(), []);
  const branch = { branch: 'release-1', ref: 'main' };
  await as('maintainer').post(`/projects/${project.id}/repository/branches`, branch);
  const [created, ...others] = await received();
  assert.deepEqual(others, []);
  const after = await headOf(here);
  assert.deepEqual([created.object_kind, created.event_name, created.event], ['push', 'push', 'Push Hook']);
  assert.deepEqual([created.ref, created.before, created.after], ['refs/heads/release-1', '0'.repeat(40), after]);
  assert.deepEqual([created.commits, created.total_commits_count, created.checkout_sha], [[], 0, after]);
  await as('maintainer').put(fileUrl(project, 'README.md'), { ...edit, branch: 'release-1', content: 'four\n' });
  const [pushed] = await received();
  assert.notEqual(before, pushed.before);
  assert.deepEqual([pushed.user_id, pushed.user_username], [people.maintainer.id, people.maintainer.username]);
  assert.deepEqual(
    [pushed.project.path_with_namespace, pushed.repository.homepage],
    [project.full_path, `http://coppice.test/${project.full_path}`],
  );
  const [commit] = pushed.commits;
  assert.deepEqual(
    [commit.message, commit.title, commit.added, commit.modified, commit.removed],
    ['Sow\n\nbeans', 'Sow', [], ['README.md'], []],
  );
  assert.equal(commit.url, `http://coppice.test/${project.full_path}/-/commit/${pushed.after}`);
  await as('maintainer').delete(`/projects/${project.id}/repository/branches/release-1`);
  const [removed] = await received();
  assert.deepEqual([removed.after, removed.checkout_sha, removed.commits], ['0'.repeat(40), null, []]);
});

test('a tag is sent with its message, and system hooks get one event for the repository, without commits', async (t) => {
  const sample = await hookFor(t, ['tag_push_events']);
  await hookFor(t, ['tag_push_events', 'repository_update_events'], '/hooks');
  const tag = { tag_name: 'v1', ref: 'main', message: 'First harvest' };
  await here.as('maintainer').post(`/projects/${here.project.id}/repository/tags`, tag);
  const all = await received();
  const head = await headOf(here);
  const [ofProject] = all.filter(({ event }) => event === 'Tag Push Hook');
  assert.deepEqual(
    [ofProject.object_kind, ofProject.message, ofProject.checkout_sha],
    ['tag_push', 'First harvest', head],
  );
  assert.deepEqual([ofProject.total_commits_count, ofProject.commits.length], [1, 1]);
  const ofServer = all.filter(({ event }) => event === 'System Hook');
  assert.deepEqual(ofServer.map(({ event_name }) => event_name).sort(), ['repository_update', 'tag_push']);
  assert.deepEqual(ofServer.find(({ event_name }) => event_name === 'tag_push').commits, []);
  assert.deepEqual(ofServer.find(({ event_name }) => event_name === 'repository_update').refs, ['refs/tags/v1']);
  assert.equal(ofProject.ref_protected, false);
  await here.as('maintainer').post(`/projects/${here.project.id}/protected_tags`, { name: 'v*' });
  await here.as('maintainer').post(`/projects/${here.project.id}/repository/tags`, { ...tag, tag_name: 'v2' });
  const [later] = (await received()).filter(({ event }) => event === 'Tag Push Hook');
  assert.deepEqual([later.ref, later.ref_protected], ['refs/tags/v2', true]);
  const sampled = await sample('tag_push_events');
  assert.deepEqual([sampled.object_kind, sampled.ref, sampled.commits.length], ['tag_push', 'refs/tags/v2', 1]);
});

test('an issue that is created, updated or closed triggers the webhooks of the project and the group, with its changes', async (t) => {
  const { project, group, people, as } = here;
  await hookFor(t, ['issues_events']);
  await hookFor(t, ['issues_events'], `/groups/${group.id}/hooks`);
  await as('developer').post(`/projects/${project.id}/labels`, { name: 'ripe', color: '#ff0000' });
  const issues = `/projects/${project.id}/issues`;
  const { iid } = (await as('developer').post(issues, { title: 'Pick', labels: 'ripe' })).body;
  const [opened, toGroup, ...others] = await received();
  assert.deepEqual([others, { ...toGroup }], [[], { ...opened }]);
  const { object_attributes: it } = opened;
  assert.deepEqual(
    [opened.object_kind, opened.event_type, it.action, it.iid, it.state],
    ['issue', 'issue', 'open', iid, 'opened'],
  );
  assert.equal(it.url, `http://coppice.test/${project.full_path}/-/issues/${iid}`);
  assert.deepEqual([opened.user.username, opened.user.email], [people.developer.username, '[REDACTED]']);
  assert.deepEqual(
    opened.labels.map(({ title }: { title: string }) => title),
    ['ripe'],
  );

  await as('developer').put(`${issues}/${iid}`, { title: 'Pick all', labels: '', assignee_ids: [people.reporter.id] });
  const [updated] = await received();
  assert.equal(updated.object_attributes.action, 'update');
  assert.deepEqual(updated.changes.title, { previous: 'Pick', current: 'Pick all' });
  assert.deepEqual(updated.changes.labels.previous[0].title, 'ripe');
  assert.deepEqual(updated.changes.labels.current, []);
  assert.deepEqual(updated.changes.assignees.current[0].username, people.reporter.username);
  assert.deepEqual(updated.assignees[0].id, people.reporter.id);

  await as('developer').put(`${issues}/${iid}`, { state_event: 'close' });
  const [closed] = await received();
  assert.deepEqual([closed.object_attributes.action, closed.changes.state_id], ['close', { previous: 1, current: 2 }]);
});

test('confidential issues and comments trigger only webhooks that ask for them', async (t) => {
  const { project, as } = here;
  await hookFor(t, ['issues_events', 'note_events']);
  const issues = `/projects/${project.id}/issues`;
  const { iid } = (await as('developer').post(issues, { title: 'Secret', confidential: true })).body;
  await as('developer').post(`${issues}/${iid}/notes`, { body: 'Quiet' });
  assert.deepEqual(await received(), []);
  await hookFor(t, ['confidential_issues_events', 'confidential_note_events']);
  await as('developer').put(`${issues}/${iid}`, { title: 'Still secret' });
  await as('developer').post(`${issues}/${iid}/notes`, { body: 'Quiet' });
  const all = await received();
  assert.deepEqual(all.map(({ event, event_type }) => [event, event_type]).sort(), [
    ['Confidential Issue Hook', 'confidential_issue'],
    ['Confidential Note Hook', 'confidential_note'],
  ]);
});

test('an issue whose confidentiality changes triggers the webhooks for its new confidentiality', async (t) => {
  const { project, as } = here;
  await hookFor(t, ['issues_events']);
  await hookFor(t, ['confidential_issues_events'], `/groups/${here.group.id}/hooks`);
  const issues = `/projects/${project.id}/issues`;
  const { iid } = (await as('developer').post(issues, { title: 'Open' })).body;
  await as('developer').put(`${issues}/${iid}`, { confidential: true });
  await as('developer').put(`${issues}/${iid}`, { confidential: false });
  const all = (await received()).map(({ event, object_attributes, changes }) => [
    event,
    object_attributes.action,
    changes.confidential?.current,
  ]);
  assert.deepEqual(all.toSorted(), [
    ['Confidential Issue Hook', 'update', true],
    ['Issue Hook', 'open', undefined],
    ['Issue Hook', 'update', false],
  ]);
});

test('a copy of an issue triggers the webhooks of a new one, and a moved issue those of a closed one', async (t) => {
  const { project, group, as } = here;
  await hookFor(t, ['issues_events'], `/groups/${group.id}/hooks`);
  const issues = `/projects/${project.id}/issues`;
  const other = (await as('owner').post('/projects', { name: 'Copies', namespace_id: group.id })).body;
  const { iid } = (await as('developer').post(issues, { title: 'Copied' })).body;
  await received();
  const heard = async () =>
    (await received())
      .map(
        ({ object_attributes: { action, state }, project: { id } }) =>
          `${id === other.id ? 'there' : 'here'}: ${action} ${state}`,
      )
      .toSorted();
  assert.equal((await as('owner').post(`${issues}/${iid}/clone`, { to_project_id: other.id })).status, 201);
  assert.deepEqual(await heard(), ['there: open opened']);
  assert.equal((await as('owner').post(`${issues}/${iid}/move`, { to_project_id: other.id })).status, 201);
  assert.deepEqual(await heard(), ['here: close closed', 'there: open opened']);
});

test('comments on issues, merge requests, commits and snippets are sent with their subject', async (t) => {
  const { project, as } = here;
  await hookFor(t, ['note_events']);
  const issue = (await as('developer').post(`/projects/${project.id}/issues`, { title: 'Talk' })).body;
  const added = await as('developer').post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body: 'First' });
  await as('developer').put(`/projects/${project.id}/issues/${issue.iid}/notes/${added.body.id}`, { body: 'Second' });
  const notes = await received();
  notes.sort((one, other) => (one.object_attributes.action < other.object_attributes.action ? -1 : 1));
  assert.deepEqual(
    notes.map(({ object_attributes: { action, note, noteable_type } }) => [action, note, noteable_type]),
    [
      ['create', 'First', 'Issue'],
      ['update', 'Second', 'Issue'],
    ],
  );
  assert.deepEqual([notes[0].issue.iid, notes[0].event, notes[0].project_id], [issue.iid, 'Note Hook', project.id]);
  assert.equal(
    notes[0].object_attributes.url,
    `http://coppice.test/${project.full_path}/-/issues/${issue.iid}#note_${added.body.id}`,
  );
  const head = await headOf(here);
  await as('developer').post(`/projects/${project.id}/repository/commits/${head}/comments`, { note: 'Well done' });
  const snippet = { title: 'S', visibility: 'private', files: [{ file_path: 'a.txt', content: 'a' }] };
  const { id } = (await as('developer').post(`/projects/${project.id}/snippets`, snippet)).body;
  await as('developer').post(`/projects/${project.id}/snippets/${id}/notes`, { body: 'Nice' });
  const byType = Object.fromEntries((await received()).map((body) => [body.object_attributes.noteable_type, body]));
  assert.deepEqual(Object.keys(byType).sort(), ['Commit', 'Snippet']);
  assert.equal(byType.Commit.commit.id, head);
  assert.equal(byType.Snippet.snippet.title, 'S');
});

test('a merge request triggers webhooks when it is opened, changed, pushed to, approved and merged', async (t) => {
  const { project, as } = here;
  const sample = await hookFor(t, ['merge_requests_events']);
  const { iid } = await addMergeRequest(here, { title: 'Draft: Sow' });
  const path = `/projects/${project.id}/merge_requests/${iid}`;
  const first = await headOf(here, 'topic');
  const [opened] = await received();
  const { object_attributes: it } = opened;
  assert.deepEqual(
    [opened.object_kind, it.action, it.draft, it.source_branch, it.target_branch],
    ['merge_request', 'open', true, 'topic', 'main'],
  );
  assert.deepEqual([it.last_commit.id, it.source.id, it.target.id], [first, project.id, project.id]);
  assert.equal(it.url, `http://coppice.test/${project.full_path}/-/merge_requests/${iid}`);
  const { user: sampler, ...sampled } = await sample('merge_requests_events');
  assert.equal(sampler.username, here.people.admin.username);
  assert.deepEqual({ ...sampled, user: opened.user, event: opened.event }, opened);

  await as('developer').put(path, { title: 'Sow', reviewer_ids: [here.people.maintainer.id] });
  const [updated] = await received();
  assert.deepEqual(
    [updated.changes.title, updated.changes.draft],
    [
      { previous: 'Draft: Sow', current: 'Sow' },
      { previous: true, current: false },
    ],
  );
  assert.equal(updated.changes.reviewers.current[0].id, here.people.maintainer.id);

  await as('developer').post(fileUrl(project, 'more.txt'), { ...onMain, branch: 'topic', content: 'more\n' });
  await performQueued(here.services, [followMergeRequests]);
  const [moved] = await received();
  assert.deepEqual([moved.object_attributes.action, moved.object_attributes.oldrev], ['update', first]);
  assert.equal(moved.object_attributes.last_commit.id, await headOf(here, 'topic'));

  await as('maintainer').post(`${path}/approve`);
  await as('maintainer').post(`${path}/unapprove`);
  const approvals = (await received()).map(({ object_attributes }) => object_attributes.action);
  assert.deepEqual(approvals.sort(), ['approved', 'unapproved']);

  await as('maintainer').post(`${path}/approve`);
  await received();
  await as('developer').post(fileUrl(project, 'again.txt'), { ...onMain, branch: 'topic', content: 'more\n' });
  await performQueued(here.services, [followMergeRequests]);
  const reset = (await received()).map(({ object_attributes: { action, system, system_action } }) => [
    action,
    system,
    system_action,
  ]);
  assert.deepEqual(reset.toSorted(), [
    ['unapproved', true, 'approvals_reset_on_push'],
    ['update', undefined, undefined],
  ]);

  assert.equal((await as('maintainer').put(`${path}/merge`)).status, 200);
  await performQueued(here.services, [concludeMerges]);
  const [merged] = await received();
  assert.deepEqual([merged.object_attributes.action, merged.object_attributes.state], ['merge', 'merged']);
});
test('wiki pages trigger the webhooks of the project and the groups above when they are created, changed and deleted', async (t) => {
  const { project, group, as, people } = here;
  const wiki = `/projects/${project.id}/wikis`;
  const sample = { push_events: false, url: `${receiver.url}/sample` };
  const hook = (await as('admin').post(`/projects/${project.id}/hooks`, sample)).body;
  const ask = () => as('maintainer').post(`/projects/${project.id}/hooks/${hook.id}/test/wiki_page_events`);
  assert.deepEqual((await ask()).body, { message: 'Ensure the wiki is enabled and has pages.' });
  await hookFor(t, ['wiki_page_events']);
  await hookFor(t, ['wiki_page_events'], `/groups/${group.id}/hooks`);
  await hookFor(t, ['repository_update_events'], '/hooks');

  const added = await as('developer').post(wiki, { title: 'fruit/Späte Äpfel', content: 'Käse', message: 'Sow' });
  assert.equal(added.status, 201);
  const all = await received();
  const [toProject, toGroup] = all.filter(({ object_kind }) => object_kind === 'wiki_page');
  assert.deepEqual([all.length, toProject, toProject.event], [3, toGroup, 'Wiki Page Hook']);
  const page = `http://coppice.test/${project.full_path}/-/wikis/fruit/Sp%C3%A4te-%C3%84pfel`;
  const { version_id, ...attributes } = toProject.object_attributes;
  assert.match(version_id, /^[0-9a-f]{40}$/);
  assert.deepEqual(attributes, {
    slug: 'fruit/Späte-Äpfel',
    title: 'Späte Äpfel',
    format: 'markdown',
    message: 'Sow',
    content: 'Käse',
    action: 'create',
    url: page,
    diff_url: `${page}/diff?version_id=${version_id}`,
  });
  const path_with_namespace = `${project.full_path}.wiki`;
  assert.deepEqual(toProject.wiki, {
    path_with_namespace,
    default_branch: 'main',
    web_url: `http://coppice.test/${project.full_path}/-/wikis`,
    git_http_url: `http://coppice.test/${path_with_namespace}.git`,
    git_ssh_url: `ssh://git@coppice.test:2222/${path_with_namespace}.git`,
  });
  assert.deepEqual([toProject.user.id, toProject.project.id, toProject.group], [people.developer.id, project.id, null]);
  const update = all.find(({ event_name }) => event_name === 'repository_update');
  assert.deepEqual([update.refs, update.wiki, update.project_id], [['refs/heads/main'], toProject.wiki, project.id]);

  assert.equal((await ask()).status, 201);
  assert.deepEqual(
    receiver.take().map(({ body }) => [body.object_attributes.slug, body.object_attributes.action]),
    [['fruit/Späte-Äpfel', 'create']],
  );
  const at = `${wiki}/${encodeURIComponent('fruit/Späte-Äpfel')}`;
  await as('developer').put(at, { content: 'x'.repeat(1024 * 1024 + 1) });
  await as('maintainer').delete(at);
  const later = (await received()).filter(({ object_attributes }) => object_attributes);
  const seen = later.map(({ object_attributes: { action, content } }) => [action, content]);
  const expected = [
    ['delete', null],
    ['delete', null],
    ['update', null],
    ['update', null],
  ];
  assert.deepEqual(seen.toSorted(), expected, 'a long page without its content');
});

test('pages of the wiki of a group trigger the webhooks of the group and those above it', async (t) => {
  const { group, as } = here;
  const inner = (await as('owner').post('/groups', { name: 'Wiki', path: 'wiki-inside', parent_id: group.id })).body;
  await hookFor(t, ['wiki_page_events']);
  await hookFor(t, ['wiki_page_events'], `/groups/${group.id}/hooks`);
  await hookFor(t, ['wiki_page_events'], `/groups/${inner.id}/hooks`);
  assert.equal((await as('owner').post(`/groups/${inner.id}/wikis`, { title: 'Home', content: 'Apples' })).status, 201);
  const all = await received();
  assert.equal(all.length, 2);
  const [{ project, group: shown, wiki, object_attributes }] = all as [
    Record<string, unknown> & { object_attributes: { url: string } },
  ];
  assert.deepEqual(
    [project, shown],
    [null, { group_id: inner.id, group_name: 'Wiki', group_path: 'wiki-inside', full_path: inner.full_path }],
  );
  assert.equal((wiki as { path_with_namespace: string }).path_with_namespace, `${inner.full_path}.wiki`);
  assert.equal(object_attributes.url, `http://coppice.test/groups/${inner.full_path}/-/wikis/Home`);
});

test('the body of a webhook is read where the repository is by then', async (t) => {
  const { project, as, db, services } = here;
  await hookFor(t, ['push_events', 'wiki_page_events']);
  const edit = { ...onMain, commit_message: 'Sow', content: 'rye\n' };
  assert.equal((await as('maintainer').put(fileUrl(project, 'README.md'), edit)).status, 200);
  assert.equal(
    (await as('developer').post(`/projects/${project.id}/wikis`, { title: 'Moved', content: 'Apples' })).status,
    201,
  );
  const wiki = await db.selectFrom('wikis').select('id').where('project_id', '=', project.id).executeTakeFirstOrThrow();
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'coppice-elsewhere-'));
  const storages = { ...services.storages, elsewhere };
  const move = async (from: string, to: string) => {
    for (const place of [{ id: project.id }, { id: wiki.id, folder: '@wikis' }] as const) {
      const [old, now] = [from, to].map((storage) => placeOf({ storages }, { ...place, storage }));
      await mkdir(path.dirname(now!), { recursive: true });
      await rename(old!, now!);
    }
    await db.updateTable('projects').set({ storage: to }).where('id', '=', project.id).execute();
    await db.updateTable('wikis').set({ storage: to }).where('id', '=', wiki.id).execute();
  };
  await move('default', 'elsewhere');
  t.after(() => rm(elsewhere, { recursive: true }));
  await performQueued({ ...services, storages }, [announceEvents]);
  await move('elsewhere', 'default');
  const bodies = await received();
  const push = bodies.find(({ object_kind }) => object_kind === 'push');
  assert.deepEqual(
    [push.total_commits_count, push.commits[0].title, push.commits[0].modified],
    [1, 'Sow', ['README.md']],
  );
  assert.equal(bodies.find(({ object_kind }) => object_kind === 'wiki_page').object_attributes.content, 'Apples');
});
