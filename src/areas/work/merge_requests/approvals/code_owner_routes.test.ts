import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { changePlan } from '../../../../../test/support/licenses.ts';
import { addBranch, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../../test/support/repository.ts';
import { untilLockWaits } from '../../../../../test/support/waiting.ts';
import type { Persona } from '../../../../../test/support/world.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges, mergeReady];

test('a merge request waits for the owners of the files that it changes', async () => {
  const here = await worldWithTopic({});
  const { as, people, project, group, services } = here;
  const url = `/projects/${project.id}/merge_requests/1`;
  const protection = `/projects/${project.id}/protected_branches/main`;
  const statusNow = async () => (await as('reporter').get(url)).body.detailed_merge_status;
  const state = async () => (await as('reporter').get(`${url}/approval_state`)).body;
  const owners = async (content: string, path = 'CODEOWNERS', method: 'post' | 'put' = 'put') => {
    const written = await as('maintainer')[method](fileUrl(project, path), { ...onMain, content });
    assert.ok(written.status < 300, JSON.stringify(written.body));
    await performQueued(services, jobs);
  };
  const push = async (path: string) => {
    const pushed = await as('developer').post(fileUrl(project, path), { ...onMain, branch: 'topic', content: 'x\n' });
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
  };
  const approve = async (by: Persona) => (await as(by).post(`${url}/approve`)).status;

  await addMergeRequest(here);
  await performQueued(services, jobs);
  await owners(
    `*.txt @${people.owner.username.toUpperCase()} @${people.reporter.username}\n`,
    '.gitlab/CODEOWNERS',
    'post',
  );
  assert.deepEqual([await statusNow(), (await state()).rules], ['mergeable', []], 'the branch does not ask for it');
  const asked = await as('maintainer').patch(protection, { code_owner_approval_required: true });
  assert.equal(asked.body.code_owner_approval_required, true);
  assert.equal(await statusNow(), 'not_approved');
  const { rules } = await state();
  assert.equal(rules.length, 1);
  const [{ eligible_approvers, ...rule }] = rules;
  assert.deepEqual(
    [rule.id, rule.name, rule.rule_type, rule.section, rule.code_owner, rule.approvals_required, rule.approved],
    [null, '*.txt', 'code_owner', 'codeowners', true, 1, false],
  );
  assert.deepEqual(
    eligible_approvers.map(({ id }: { id: number }) => id),
    [people.owner.id],
    'reporters may not approve',
  );
  const left = (await as('owner').get(`${url}/approvals`)).body;
  assert.deepEqual(
    [left.approved, left.approvals_left, left.approval_rules_left],
    [false, 1, [{ id: null, name: '*.txt', rule_type: 'code_owner' }]],
  );
  assert.deepEqual([left.suggested_approvers.length, left.suggested_approvers[0].id], [1, people.owner.id]);
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 405);
  assert.equal(await approve('maintainer'), 201);
  assert.equal(await statusNow(), 'not_approved', 'maintainers own nothing here');
  const own = await as('developer').post(`${url}/approval_rules`, { name: 'Mine', approvals_required: 0 });
  assert.equal(own.status, 201);
  assert.deepEqual(
    [await statusNow(), (await state()).rules.length],
    ['not_approved', 2],
    'rules of its own do not replace it',
  );

  // The first file that exists counts, as it is now.
  const email = (await as('owner').get('/user')).body.email;
  await owners(
    `*.txt ${email}\n[Seeds][2]\n*.txt @${group.path}\n^[Extra] @${people.maintainer.username}\n*\n`,
    'CODEOWNERS',
    'post',
  );
  const named = (await state()).rules.filter(({ code_owner }: { code_owner: boolean }) => code_owner);
  assert.deepEqual(
    named.map(({ section, approvals_required, approved }: Record<string, unknown>) => [
      section,
      approvals_required,
      approved,
    ]),
    [
      ['codeowners', 1, false],
      ['Seeds', 2, false],
      ['Extra', 0, true],
    ],
  );
  const eligible = named.map((each: { users: { id: number }[] }) => each.users.map(({ id }) => id));
  assert.deepEqual(eligible[0], [people.owner.id]);
  assert.ok(
    eligible[1].includes(people.maintainer.id) && !eligible[1].includes(people.reporter.id),
    'members of the group',
  );
  assert.ok(!eligible[1].includes(people.developer.id), 'authors do not approve their own');

  // Nobody else's files need them; nor do owners ask for anything who may not approve.
  await owners(
    `*.md @${people.owner.username}\n/seeds/ @${people.owner.username}\n*.txt @${people.outsider.username} @nobody\n`,
  );
  assert.equal(await statusNow(), 'mergeable');
  const { body: unclaimed } = await as('owner').get(`${url}/approvals`);
  assert.deepEqual(
    unclaimed.invalid_approvers_rules.map(({ name }: { name: string }) => name),
    ['*.txt'],
  );
  await push('seeds/beans.md');
  assert.equal(await statusNow(), 'approvals_syncing', 'what is new may have owners');
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 405);
  await performQueued(services, jobs);
  assert.equal(await statusNow(), 'not_approved');

  // An auto-merge waits for them.
  assert.equal(
    (await as('maintainer').put(`${url}/merge`, { auto_merge: true })).body.merge_when_pipeline_succeeds,
    true,
  );
  assert.equal(await approve('maintainer'), 201);
  await performQueued(services, jobs);
  assert.equal((await as('reporter').get(url)).body.state, 'opened');
  assert.equal(await approve('owner'), 201);
  await performQueued(services, jobs);
  assert.equal((await as('reporter').get(url)).body.state, 'merged');
  assert.ok(
    (await state()).rules.every(({ code_owner }: { code_owner: boolean }) => !code_owner),
    'it is no longer open',
  );

  // Groups elsewhere do not count, of a long file only the beginning does, and nothing does without Premium.
  await addBranch(here, 'later');
  await addMergeRequest(here, { source_branch: 'later' });
  await performQueued(services, jobs);
  const later = `/projects/${project.id}/merge_requests/2`;
  const laterStatus = async () => (await as('reporter').get(later)).body.detailed_merge_status;
  const elsewhere = await as('owner').post('/groups', { name: 'Elsewhere', path: 'elsewhere' });
  assert.equal(elsewhere.status, 201);
  await owners('* @elsewhere\n');
  assert.equal(await laterStatus(), 'mergeable');
  const long = `${'# a comment\n'.repeat(22_000)}[Late]\n* @${people.owner.username}\n`;
  await owners(long);
  assert.equal(await laterStatus(), 'mergeable');
  await owners(`* @${people.owner.username}\n${long}`);
  assert.equal(await laterStatus(), 'not_approved');
  const [only, ...others] = (await as('reporter').get(`${later}/approval_state`)).body.rules;
  assert.deepEqual([only.section, others], ['codeowners', []]);
  await changePlan(here, 'free');
  assert.equal(await laterStatus(), 'mergeable');
  await changePlan(here, 'ultimate');
});

test('a push revokes the approvals of the owners whose files it changes, if the project is configured so, and no others', async () => {
  const here = await worldWithTopic({});
  const { as, people, project, services } = here;
  const url = `/projects/${project.id}/merge_requests/1`;
  const settings = `/projects/${project.id}/approvals`;
  const change = (given: Record<string, boolean>) => as('maintainer').post(settings, given);
  const refused = await change({ selective_code_owner_removals: true });
  assert.deepEqual(refused.body.message, {
    selective_code_owner_removals: ['can only be enabled without reset_approvals_on_push'],
  });
  assert.equal((await as('maintainer').get(settings)).body.selective_code_owner_removals, false);
  const on = (await change({ selective_code_owner_removals: true, reset_approvals_on_push: false })).body;
  assert.deepEqual([on.selective_code_owner_removals, on.reset_approvals_on_push], [true, false]);

  const content = `*.md @${people.owner.username}\n*.txt @${people.maintainer.username}\n`;
  await as('maintainer').post(fileUrl(project, 'CODEOWNERS'), { ...onMain, content });
  await addMergeRequest(here);
  await performQueued(services, jobs);
  const approvers = async () =>
    (await as('reporter').get(`${url}/approvals`)).body.approved_by.map(
      ({ user }: { user: { username: string } }) => user.username,
    );
  const push = async (path: string) => {
    const pushed = await as('developer').post(fileUrl(project, path), { ...onMain, branch: 'topic', content: 'x\n' });
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    await performQueued(services, jobs);
  };
  for (const by of ['owner', 'maintainer'] as const) assert.equal((await as(by).post(`${url}/approve`)).status, 201);
  await push('other.c');
  assert.deepEqual(await approvers(), [people.owner.username, people.maintainer.username]);
  await push('seeds.md');
  assert.deepEqual(await approvers(), [people.maintainer.username]);
  const notes = (await as('reporter').get(`${url}/notes`)).body.map(({ body }: { body: string }) => body);
  assert.ok(notes.includes(`reset approvals from @${people.owner.username} by changing files that they own`));
  const back = (await change({ reset_approvals_on_push: true })).body;
  assert.deepEqual([back.selective_code_owner_removals, back.reset_approvals_on_push], [false, true]);
});

test('an auto-merge that waits for code owners is rechecked when the file or the protection changes', async () => {
  const here = await worldWithTopic({});
  const { as, people, project, services } = here;
  const protection = `/projects/${project.id}/protected_branches/main`;
  const stateOf = async (iid: number) =>
    (await as('reporter').get(`/projects/${project.id}/merge_requests/${iid}`)).body.state;
  const file = { ...onMain, content: `*.txt @${people.owner.username}\n` };
  assert.equal((await as('maintainer').post(fileUrl(project, 'CODEOWNERS'), file)).status, 201);
  assert.equal((await as('maintainer').patch(protection, { code_owner_approval_required: true })).status, 200);
  await addBranch(here, 'later');
  for (const [index, source_branch] of ['topic', 'later'].entries()) {
    await addMergeRequest(here, { source_branch });
    await performQueued(services, jobs);
    const asked = await as('maintainer').put(`/projects/${project.id}/merge_requests/${index + 1}/merge`, {
      auto_merge: true,
    });
    assert.equal(asked.body.merge_when_pipeline_succeeds, true, JSON.stringify(asked.body));
  }
  await performQueued(services, jobs);
  assert.equal(await stateOf(1), 'opened');
  const content = `/topic.txt\n/later.txt @${people.owner.username}\n`;
  assert.equal((await as('maintainer').put(fileUrl(project, 'CODEOWNERS'), { ...onMain, content })).status, 200);
  await performQueued(services, jobs);
  assert.deepEqual([await stateOf(1), await stateOf(2)], ['merged', 'opened']);
  assert.equal((await as('maintainer').patch(protection, { code_owner_approval_required: false })).status, 200);
  await performQueued(services, jobs);
  assert.equal(await stateOf(2), 'merged');
});

test('revoking an approval while a merge is prepared prevents the merge', async () => {
  const here = await worldWithTopic({});
  const { as, db, people, project, services } = here;
  const url = `/projects/${project.id}/merge_requests/1`;
  const { id } = await addMergeRequest(here);
  await performQueued(services, jobs);
  const rule = { name: 'One', approvals_required: 1, user_ids: [people.owner.id] };
  assert.equal((await as('maintainer').post(`/projects/${project.id}/approval_rules`, rule)).status, 201);
  assert.equal((await as('owner').post(`${url}/approve`)).status, 201);
  const merging = await db.transaction().execute(async (tx) => {
    await tx.selectFrom('merge_requests').select('id').where('id', '=', id).forUpdate().execute();
    const answer = as('maintainer').put(`${url}/merge`);
    await untilLockWaits(db);
    await tx.deleteFrom('merge_request_approvals').where('merge_request_id', '=', id).execute();
    return { answer };
  });
  assert.equal((await merging.answer).status, 405);
  assert.equal((await as('reporter').get(url)).body.state, 'opened');
});
