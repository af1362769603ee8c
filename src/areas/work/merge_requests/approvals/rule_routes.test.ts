import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../../test/support/client.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { personWith } from '../../../../../test/support/member_roles.ts';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { fileUrl, headOf, onMain } from '../../../../../test/support/repository.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { daysFromNow } from '../../../../cron/index.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges, mergeReady];
const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;
const statusOf = async (here: World) => (await here.as('maintainer').get(urlOf(here))).body.detailed_merge_status;
const approve = async (here: World, by: Persona) => (await here.as(by).post(`${urlOf(here)}/approve`)).status;

test('a merge request waits for the approvals that rules require, and a push resets them', async () => {
  const here = await worldWithTopic();
  const { as, people, project, group } = here;
  const url = urlOf(here);
  const rules = `/projects/${project.id}/approval_rules`;
  await addMergeRequest(here, { reviewer_ids: [people.owner.id] });
  assert.equal(await statusOf(here), 'mergeable');
  assert.equal(await approve(here, 'developer'), 401, 'authors do not approve their own');

  const manager = await personWith(here, `/projects/${project.id}`, ['manage_merge_request_settings']);
  const wanted = { name: 'Gardeners', approvals_required: 2, user_ids: [people.owner.id], group_ids: [group.id] };
  assert.equal((await as('developer').post(rules, wanted)).status, 403);
  const refused = await as('maintainer').post(rules, { ...wanted, user_ids: [people.outsider.id] });
  assert.deepEqual(refused.body.message, { users: [`are not members of the project: ${people.outsider.id}`] });
  assert.deepEqual((await as('reporter').get(rules)).body, []);
  const made = await manager.client.post(rules, wanted);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const ids = (users: { id: number }[]) => users.map(({ id }) => id).toSorted((a, b) => a - b);
  const { id: rule_id, eligible_approvers, users, groups } = made.body;
  assert.deepEqual([ids(users), ids(groups)], [[people.owner.id], [group.id]]);
  assert.ok(
    ids(eligible_approvers).includes(people.maintainer.id) && !ids(eligible_approvers).includes(people.reporter.id),
  );
  const again = await as('maintainer').post(rules, wanted);
  assert.deepEqual([again.status, again.body.message], [400, { name: ['has already been taken'] }]);
  assert.equal((await as('maintainer').post(rules, { ...wanted, approvals_required: 101 })).status, 400);

  assert.equal(await statusOf(here), 'not_approved');
  assert.deepEqual((await as('maintainer').put(`${url}/merge`)).status, 405);
  assert.equal(
    (await as('maintainer').put(`${url}/merge`, { auto_merge: true })).body.merge_when_pipeline_succeeds,
    true,
  );
  assert.equal(await approve(here, 'maintainer'), 201);
  const { body } = await as('owner').get(`${url}/approvals`);
  assert.deepEqual(
    [body.approved, body.approvals_required, body.approvals_left, body.approval_rules_left, body.user_can_approve],
    [false, 2, 1, [{ id: rule_id, name: 'Gardeners', rule_type: 'regular' }], true],
  );
  assert.ok(
    ids(body.suggested_approvers).includes(people.owner.id) &&
      !ids(body.suggested_approvers).includes(people.maintainer.id),
  );
  assert.deepEqual(await performQueued(here.services, [mergeReady]), ['merge_when_ready']);
  assert.equal((await as('owner').get(url)).body.state, 'opened', 'one is still missing');

  // What was approved is no longer what would be merged.
  await as('developer').post(fileUrl(project, 'more.txt'), { ...onMain, branch: 'topic', content: 'x\n' });
  assert.equal(await statusOf(here), 'not_approved');
  await as('maintainer').put(`${rules}/${rule_id}`, { approvals_required: 1 });
  assert.equal(await statusOf(here), 'approvals_syncing', 'the new version is not recorded yet');
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 405);
  await performQueued(here.services, jobs);
  assert.deepEqual((await as('owner').get(`${url}/approvals`)).body.approved_by, []);
  const notes = await as('owner').get(`${url}/notes`, { activity_filter: 'only_activity' });
  assert.ok(
    notes.body.some(
      ({ body }: { body: string }) =>
        body === `reset approvals from @${people.maintainer.username} by pushing to the branch`,
    ),
  );
  assert.equal(await statusOf(here), 'not_approved');

  await as('maintainer').put(`${url}/merge`, { auto_merge: true });
  assert.equal(await approve(here, 'owner'), 201);
  const before = await headOf(here);
  const state = (await as('reporter').get(`${url}/approval_state`)).body;
  assert.deepEqual(
    [state.approval_rules_overwritten, state.rules.length, state.rules[0].approved, ids(state.rules[0].approved_by)],
    [false, 1, true, [people.owner.id]],
  );
  await performQueued(here.services, jobs);
  assert.equal((await as('owner').get(url)).body.state, 'merged', 'it was waiting for this');
  assert.notEqual(await headOf(here), before);
  assert.equal((await manager.client.delete(`${rules}/${rule_id}`)).status, 204);
  assert.equal((await manager.client.delete(`${rules}/${rule_id}`)).status, 404);
});

test('settings determine who may approve, and which rules apply', async () => {
  const here = await worldWithTopic();
  const { as, people, project } = here;
  const url = urlOf(here);
  const [settings, rules] = [`/projects/${project.id}/approvals`, `/projects/${project.id}/approval_rules`];
  const set = (changes: Record<string, unknown>) => as('maintainer').post(settings, changes);
  await addMergeRequest(here, {}, 'developer');
  assert.equal((await as('developer').post(settings, { approvals_before_merge: 1 })).status, 403);
  const usual = (await as('reporter').get(settings)).body;
  assert.deepEqual(
    [usual.reset_approvals_on_push, usual.merge_requests_author_approval, usual.approvals_before_merge],
    [true, false, 0],
  );
  const changed = await set({
    approvals_before_merge: 1,
    merge_requests_author_approval: true,
    require_reauthentication_to_approve: true,
  });
  assert.deepEqual(
    [changed.status, changed.body.approvals_before_merge, changed.body.require_password_to_approve],
    [201, 1, true],
  );
  assert.deepEqual(
    (await as('reporter').get(rules)).body.map(({ rule_type }: { rule_type: string }) => rule_type),
    ['any_approver'],
  );
  assert.equal(await statusOf(here), 'not_approved');
  assert.equal(await approve(here, 'developer'), 401, 'the password is missing');
  const password = 'correct horse battery staple';
  await as('admin').put(`/users/${people.developer.id}`, { password });
  assert.equal((await as('developer').post(`${url}/approve`, { approval_password: 'wrong' })).status, 401);
  assert.equal((await as('developer').post(`${url}/approve`, { approval_password: password })).status, 201);
  assert.equal(await statusOf(here), 'mergeable');
  await set({ require_reauthentication_to_approve: false, merge_requests_author_approval: false });
  assert.equal(await statusOf(here), 'not_approved', "the author's no longer counts");

  // The maintainer wrote the commit of the branch.
  await set({ merge_requests_disable_committers_approval: true });
  assert.equal(await approve(here, 'maintainer'), 401);
  await set({ merge_requests_disable_committers_approval: false });

  // Rules for other branches ask for nothing here.
  const protection = (await as('maintainer').post(`/projects/${project.id}/protected_branches`, { name: 'stable/*' }))
    .body;
  const other = { name: 'Stable', approvals_required: 5, protected_branch_ids: [protection.id] };
  assert.equal((await as('maintainer').post(rules, other)).body.protected_branches[0].name, 'stable/*');
  const everywhere = {
    name: 'Protected',
    approvals_required: 1,
    applies_to_all_protected_branches: true,
    user_ids: [people.owner.id],
  };
  assert.equal((await as('maintainer').post(rules, everywhere)).status, 201);
  const inEffect = async () => {
    const { body } = await as('reporter').get(`${url}/approval_state`);
    return [body.approval_rules_overwritten, ...body.rules.map(({ name }: { name: string }) => name)];
  };
  assert.deepEqual(await inEffect(), [false, 'All Members', 'Protected']);

  const own = `${url}/approval_rules`;
  const [, source] = (await as('maintainer').get(rules)).body;
  assert.equal((await as('reporter').post(own, { name: 'Mine', approvals_required: 0 })).status, 403);
  const copied = await as('developer').post(own, {
    name: 'Mine',
    approvals_required: 0,
    approval_project_rule_id: source.id,
  });
  assert.deepEqual([copied.status, copied.body.name, copied.body.source_rule.id], [201, source.name, source.id]);
  assert.deepEqual(await inEffect(), [true, 'Stable']);
  assert.equal(await statusOf(here), 'mergeable');
  assert.equal(
    (await as('developer').put(`${own}/${copied.body.id}`, { approvals_required: 2 })).body.approvals_required,
    2,
  );
  assert.equal(await statusOf(here), 'mergeable', 'nobody could give these');
  await set({ disable_overriding_approvers_per_merge_request: true });
  assert.deepEqual(await inEffect(), [false, 'All Members', 'Protected']);
  assert.equal((await as('developer').delete(`${own}/${copied.body.id}`)).status, 403);
  assert.equal((await as('reporter').get(own)).body.length, 1);
  await set({ disable_overriding_approvers_per_merge_request: false });
  assert.equal((await as('developer').delete(`${own}/${copied.body.id}`)).status, 204);
});

test('a rule can name any group that the caller can see, and its members can approve if they may in the project', async () => {
  const here = await worldWithTopic();
  const { as, people, project } = here;
  const { iid } = await addMergeRequest(here);
  const rules = `/projects/${project.id}/approval_rules`;
  const [open, closed] = await Promise.all(
    (['internal', 'private'] as const).map(async (visibility) => {
      const path = `${visibility}-${project.id}`;
      return (await as('outsider').post('/groups', { name: path, path, visibility })).body;
    }),
  );
  const wanted = (group_id: number) => ({ name: 'Others', approvals_required: 1, group_ids: [group_id] });
  const refused = await as('maintainer').post(rules, wanted(closed.id));
  assert.deepEqual([refused.status, refused.body.message], [400, { groups: [`do not exist: ${closed.id}`] }]);
  await as('outsider').post(`/groups/${open.id}/members`, { user_id: people.owner.id, access_level: 30 });
  const made = await as('maintainer').post(rules, wanted(open.id));
  assert.deepEqual([made.status, made.body.groups[0].id], [201, open.id]);
  const url = `/projects/${project.id}/merge_requests/${iid}`;
  const status = async () => (await as('maintainer').get(url)).body.detailed_merge_status;
  assert.equal(await status(), 'not_approved');
  assert.equal((await as('maintainer').post(`${url}/approve`)).status, 201);
  assert.equal(await status(), 'not_approved', 'not a member of the group');
  assert.equal((await as('owner').post(`${url}/approve`)).status, 201);
  assert.equal(await status(), 'mergeable');
});

test('groups hidden from the caller of a change stay in a rule, until the caller requests their removal', async () => {
  const here = await worldWithTopic();
  const { as, people, project, group, db } = here;
  const rules = `/projects/${project.id}/approval_rules`;
  const hidden = (
    await as('owner').post('/groups', { name: 'hidden', path: `hidden-${group.id}`, visibility: 'private' })
  ).body;
  const link = { group_id: hidden.id, group_access: 30 };
  assert.equal((await as('owner').post(`/projects/${project.id}/share`, link)).status, 201);
  const wanted = { name: 'Both', approvals_required: 1, group_ids: [group.id, hidden.id] };
  const { id } = (await as('owner').post(rules, wanted)).body;
  const groups = async () => {
    const rows = db.selectFrom('approval_rule_groups').select('group_id').where('approval_rule_id', '=', id);
    return (await rows.orderBy('group_id').execute()).map(({ group_id }) => group_id);
  };
  const seen = (await as('maintainer').get(`${rules}/${id}`)).body;
  assert.deepEqual(
    [seen.groups.map((each: { id: number }) => each.id), seen.contains_hidden_groups],
    [[group.id], true],
  );
  assert.equal((await as('maintainer').put(`${rules}/${id}`, { group_ids: [] })).status, 200);
  assert.deepEqual(await groups(), [hidden.id]);
  assert.equal((await as('maintainer').put(`${rules}/${id}`, { user_ids: [people.owner.id] })).status, 200);
  assert.deepEqual(await groups(), [hidden.id]);
  const removed = await as('maintainer').put(`${rules}/${id}`, { remove_hidden_groups: true });
  assert.deepEqual([removed.status, removed.body.contains_hidden_groups, await groups()], [200, false, []]);
});

test('a project and a merge request have at most 100 rules each', async () => {
  const here = await worldWithTopic();
  const { as, db, project } = here;
  const { id } = await addMergeRequest(here);
  const rule = (index: number) => ({ name: `Rule ${index}`, approvals_required: 0, rule_type: 'regular' });
  const owners = [
    [`/projects/${project.id}/approval_rules`, { project_id: project.id }],
    [`${urlOf(here)}/approval_rules`, { merge_request_id: id }],
  ] as const;
  for (const [url, owner] of owners) {
    await db
      .insertInto('approval_rules')
      .values(Array.from({ length: 99 }, (_, index) => ({ ...rule(index), ...owner })))
      .execute();
    const add = (name: string) => as('maintainer').post(url, { name, approvals_required: 1 });
    assert.equal((await add('The last')).status, 201);
    const refused = await add('One too many');
    assert.deepEqual([refused.status, refused.body.message], [400, { approval_rules: ['are limited to 100'] }]);
    assert.equal((await as('maintainer').get(url, { per_page: 100 })).body.length, 100);
  }
});

/** How many passwords of an account are tried in ten minutes. */
const attempts = 10;

test('authors cannot approve their own merge requests through a bot that they created', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await addMergeRequest(here, {}, 'maintainer');
  const botOf = async (persona: Persona) => {
    const token = { name: persona, scopes: ['api'], access_level: 40, expires_at: daysFromNow(30) };
    const { body } = await as(persona).post(`/projects/${project.id}/access_tokens`, token);
    return clientOf(`${here.url}/api/v4`, body.token);
  };
  const [own, foreign] = [await botOf('maintainer'), await botOf('owner')];
  assert.equal((await own.post(`${urlOf(here)}/approve`)).status, 401);
  assert.equal((await own.get(`${urlOf(here)}/approvals`)).body.user_can_approve, false);
  assert.equal((await foreign.post(`${urlOf(here)}/approve`)).status, 201);
  await as('maintainer').post(`/projects/${project.id}/approvals`, { merge_requests_author_approval: true });
  assert.equal((await own.post(`${urlOf(here)}/approve`)).status, 201);
});

test('the rules and settings of an archived project stay as they are', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await addMergeRequest(here);
  const base = `/projects/${project.id}`;
  const rule = { name: 'Two', approvals_required: 2 };
  const { body: made } = await as('maintainer').post(`${base}/approval_rules`, rule);
  const { body: own } = await as('maintainer').post(`${urlOf(here)}/approval_rules`, { ...rule, name: 'Own' });
  const reads = ['approval_rules', 'approvals', 'merge_request_approval_setting', 'merge_requests/1/approval_rules'];
  const shown = () => Promise.all(reads.map(async (path) => (await as('maintainer').get(`${base}/${path}`)).body));
  const before = await shown();
  assert.equal((await as('owner').post(`${base}/archive`)).status, 201);
  for (const [method, path, body] of [
    ['post', 'approval_rules', { ...rule, name: 'Three' }],
    ['put', `approval_rules/${made.id}`, { approvals_required: 0 }],
    ['delete', `approval_rules/${made.id}`],
    ['post', 'approvals', { reset_approvals_on_push: false }],
    ['put', 'merge_request_approval_setting', { allow_author_approval: true }],
    ['post', 'merge_requests/1/approval_rules', { ...rule, name: 'Three' }],
    ['put', `merge_requests/1/approval_rules/${own.id}`, { approvals_required: 0 }],
    ['delete', `merge_requests/1/approval_rules/${own.id}`],
  ] as const)
    assert.equal((await as('owner')[method](`${base}/${path}`, body)).status, 403, `${method} ${path}`);
  assert.deepEqual(await shown(), before);
});

test('after too many attempts no approval password is checked any more', async () => {
  const here = await worldWithTopic();
  const { as, people, project } = here;
  await addMergeRequest(here, {}, 'maintainer');
  await as('maintainer').post(`/projects/${project.id}/approvals`, { require_reauthentication_to_approve: true });
  const password = 'correct horse battery staple';
  await as('admin').put(`/users/${people.developer.id}`, { password });
  const attempt = async (approval_password: string) => {
    const { status, headers, body } = await as('developer').post(`${urlOf(here)}/approve`, { approval_password });
    return { status, message: body.message, retries: headers.has('retry-after') };
  };
  const refused = { status: 401, message: '401 Unauthorized', retries: false };
  for (let count = 0; count < attempts; count++) assert.deepEqual(await attempt('wrong'), refused);
  const tooMany = { status: 429, message: 'Too many attempts. Try again later.', retries: true };
  assert.deepEqual(await attempt(password), tooMany);
  assert.deepEqual((await as('reporter').get(`${urlOf(here)}/approvals`)).body.approved_by, []);
});
