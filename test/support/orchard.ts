/** A group of a server that is used as people use it, for its migration to another server. */
import assert from 'node:assert/strict';
import { type Client, clientOf } from './client.ts';

/** A server and those who use it. */
export interface Site {
  url: string;
  root: Client;
  ada: Client;
  bob: Client;
}

type Body = Record<string, unknown>;

/** Sends a request that must succeed. */
async function done(client: Client, method: 'post' | 'put', path: string, body: Body = {}) {
  const answer = await client[method](path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** An account that shows its address to everybody, with a client. */
export async function accountOn(
  { url, root }: Pick<Site, 'url' | 'root'>,
  username: string,
  email: string,
): Promise<Client> {
  const password = 'correct horse battery staple';
  const { id } = await done(root, 'post', '/users', {
    username,
    name: username,
    email,
    password,
    skip_confirmation: true,
  });
  await done(root, 'put', `/users/${id}`, { public_email: email });
  const expires_at = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const { token } = await done(root, 'post', `/users/${id}/personal_access_tokens`, {
    name: 'test',
    scopes: ['api'],
    expires_at,
  });
  return clientOf(`${url}/api/v4`, token);
}

/** What the tests know of the group. */
export const paths = { group: 'orchard', project: 'orchard/apples', other: 'orchard/cellar/cider' };
const apples = `/projects/${encodeURIComponent(paths.project)}`;
const orchard = `/groups/${paths.group}`;

async function addPlanning({ root }: Site): Promise<void> {
  await done(root, 'post', `${orchard}/labels`, { name: 'shared', color: '#445566' });
  await done(root, 'post', `${orchard}/milestones`, { title: 'Winter', due_date: '2030-12-01' });
  await done(root, 'post', `${orchard}/push_rule`, { deny_delete_tag: true });
  await done(root, 'post', `${apples}/labels`, { name: 'ripe', color: '#112233', priority: 2 });
  await done(root, 'post', `${apples}/milestones`, { title: 'Autumn', due_date: '2030-10-01' });
  await done(root, 'post', `${apples}/protected_branches`, {
    name: 'rel-*',
    push_access_level: 40,
    merge_access_level: 30,
  });
  await done(root, 'post', `${apples}/protected_tags`, { name: 'v*', create_access_level: 40 });
  await done(root, 'post', `${apples}/freeze_periods`, {
    freeze_start: '0 23 * * 5',
    freeze_end: '0 7 * * 1',
    cron_timezone: 'Europe/Berlin',
  });
}

async function addIssues({ url, root, ada, bob }: Site, count: number): Promise<void> {
  const epic = await done(root, 'post', `${orchard}/epics`, {
    title: 'Harvest',
    description: 'See orchard/apples#1',
    labels: 'shared',
  });
  await done(root, 'post', `${orchard}/epics/${epic.id}/notes`, { body: 'Soon.' });
  const form = new FormData();
  form.append('file', new Blob(['a note']), 'not\u00eb.txt');
  const upload = await root.post(`${apples}/uploads`, {}, { raw: form });
  const description = `- [x] climb\n- [ ] pick\nSee #2, orchard/apples#3, ${url}/orchard/apples/-/issues/4 @ada @bob ${upload.body.markdown}`;
  await done(ada, 'post', `${apples}/issues`, {
    title: 'Pick apples',
    description,
    labels: 'ripe,shared',
    due_date: '2030-09-01',
    weight: 3,
  });
  for (let number = 2; number <= count; number++)
    await done(number % 2 ? ada : bob, 'post', `${apples}/issues`, {
      title: `Tree ${number}`,
      description: 'Old.',
      labels: 'ripe',
    });
  const first = `${apples}/issues/1`;
  const { id } = await done(ada, 'post', `${first}/discussions`, { body: 'Which ladder?' });
  await done(bob, 'post', `${first}/discussions/${id}/notes`, { body: 'The long one, @ada.' });
  await done(ada, 'post', `${first}/notes`, { body: 'Between us.', internal: true });
  await done(bob, 'post', `${first}/award_emoji`, { name: 'thumbsup' });
  await done(ada, 'post', `${first}/add_spent_time`, { duration: '1h', summary: 'Climbing' });
  await done(root, 'put', first, { epic_id: epic.id, assignee_ids: [] });
  await done(ada, 'put', `${apples}/issues/2`, { state_event: 'close' });
  const { id: project_id } = (await root.get(apples)).body;
  await done(root, 'post', `${first}/links`, {
    target_project_id: project_id,
    target_issue_iid: 3,
    link_type: 'blocks',
  });
}

async function addCode({ root, ada, bob }: Site): Promise<void> {
  const actions = [{ action: 'create', file_path: 'beans.txt', content: 'one\ntwo\n' }];
  const topic = { branch: 'topic', start_branch: 'main', commit_message: 'Add beans', actions };
  const { id: sha } = await done(ada, 'post', `${apples}/repository/commits`, topic);
  const request = { title: 'Beans', source_branch: 'topic', target_branch: 'main', description: 'Closes #5' };
  await done(ada, 'post', `${apples}/merge_requests`, request);
  const { diff_refs } = (await ada.get(`${apples}/merge_requests/1`)).body;
  const position = { ...diff_refs, position_type: 'text', old_path: 'beans.txt', new_path: 'beans.txt', new_line: 1 };
  const body = 'Why in words?\n```suggestion:-0+0\n1\n```';
  const { id } = await done(bob, 'post', `${apples}/merge_requests/1/discussions`, { body, position });
  await done(ada, 'put', `${apples}/merge_requests/1/discussions/${id}`, { resolved: true });
  await done(bob, 'post', `${apples}/merge_requests/1/approve`);
  await done(ada, 'post', `${apples}/statuses/${sha}`, { state: 'success', name: 'ci/test' });
  await done(bob, 'post', `${apples}/repository/commits/${sha}/comments`, { note: 'A good commit.' });
  const files = [
    { file_path: 'a.txt', content: 'a' },
    { file_path: 'b/c.txt', content: 'b' },
  ];
  await done(ada, 'post', `${apples}/snippets`, { title: 'A snippet', visibility: 'private', files });
  await done(root, 'post', `${apples}/wikis`, { title: 'Home', content: 'How to prune.' });
  await done(root, 'post', `${apples}/hooks`, { url: 'https://example.com/hook', token: 'a-secret-of-a-hook' });
}

/**
 * Fills a server with a group, a subgroup and two projects.
 * @param issues how many the larger project has
 */
export async function plantOrchard(site: Pick<Site, 'url' | 'root'>, issues: number): Promise<Site> {
  const { root } = site;
  const [ada, bob] = [await accountOn(site, 'ada', 'ada@example.com'), await accountOn(site, 'bob', 'bob@example.com')];
  const group = await done(root, 'post', '/groups', {
    name: 'Orchard',
    path: 'orchard',
    description: 'Old trees',
    visibility: 'public',
  });
  const cellar = await done(root, 'post', '/groups', { name: 'Cellar', path: 'cellar', parent_id: group.id });
  await done(root, 'post', '/projects', {
    name: 'Cider',
    path: 'cider',
    namespace_id: cellar.id,
    description: 'From apples',
  });
  const project = {
    name: 'Apples',
    path: 'apples',
    namespace_id: group.id,
    initialize_with_readme: true,
    topics: ['fruit'],
    merge_method: 'ff',
  };
  await done(root, 'post', '/projects', project);
  for (const [client, access_level] of [
    [ada, 40],
    [bob, 30],
  ] as const)
    await done(root, 'post', `${orchard}/members`, { user_id: (await client.get('/user')).body.id, access_level });
  const all = { ...site, ada, bob };
  await addPlanning(all);
  await addIssues(all, issues);
  await addCode(all);
  return all;
}

/** What is compared of the copy, answer by answer. */
export const compared: readonly string[] = [
  apples,
  ...[
    'issues?sort=asc&per_page=100',
    'issues/1/notes?sort=asc',
    'issues/1/discussions',
    'issues/1/award_emoji',
    'issues/1/links',
  ],
  ...['issues/1/resource_label_events', 'issues/2/resource_state_events', 'issues/1/time_stats', 'merge_requests/1'],
  ...[
    'merge_requests/1/discussions',
    'merge_requests/1/approvals',
    'merge_requests/1/commits',
    'merge_requests/1/diffs',
  ],
  ...[
    'merge_requests/1/closes_issues',
    'labels',
    'milestones',
    'snippets',
    'protected_branches',
    'protected_tags',
    'freeze_periods',
  ],
  ...[
    'push_rule',
    'wikis?with_content=true',
    'repository/tree',
    'repository/branches',
    'repository/commits?ref_name=topic',
  ],
].map((path) => (path === apples ? path : `${apples}/${path}`));

export const comparedOfGroup: readonly string[] = [
  orchard,
  ...['epics', 'labels', 'milestones', 'push_rule'].map((path) => `${orchard}/${path}`),
];
