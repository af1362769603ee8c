import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { sent } from '../../../../../test/support/sent.ts';
import { world } from '../../../../../test/support/world.ts';

const free = (value: boolean) => ({ value, locked: false, inherited_from: null });
const imposed = (value: boolean) => ({ value, locked: true, inherited_from: 'group' });

test('a project and a group show and change the same settings under public names', async () => {
  const { as, project, group } = await world();
  const [ofProject, ofGroup] = [`/projects/${project.id}`, `/groups/${group.id}`];
  const name = 'merge_request_approval_setting';
  assert.deepEqual((await as('maintainer').get(`${ofProject}/${name}`)).body, {
    allow_author_approval: free(false),
    allow_committer_approval: free(true),
    allow_overrides_to_approver_list_per_merge_request: free(true),
    retain_approvals_on_push: free(false),
    selective_code_owner_removals: free(false),
    require_password_to_approve: free(false),
    require_reauthentication_to_approve: free(false),
  });
  const group_settings = (await as('owner').get(`${ofGroup}/${name}`)).body;
  assert.deepEqual(group_settings.allow_author_approval, free(true));
  const changed = await as('maintainer').put(`${ofProject}/${name}`, {
    allow_author_approval: true,
    allow_committer_approval: false,
  });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const facts = (await as('maintainer').get(`${ofProject}/approvals`)).body;
  assert.deepEqual(
    [facts.merge_requests_author_approval, facts.merge_requests_disable_committers_approval],
    [true, true],
  );
  for (const [persona, url, status] of [
    ['developer', ofProject, 403],
    ['maintainer', ofGroup, 403],
    ['anonymous', ofGroup, 401],
  ] as const)
    assert.equal((await as(persona).get(`${url}/${name}`)).status, status);
  assert.match((await as('maintainer').put(`${ofProject}/${name}`)).body.message, /at least one parameter/);
});

test('the stricter setting of a group applies below, and is locked there until the group relaxes it', async () => {
  const here = await worldWithTopic();
  const { as, project, group } = here;
  const [ofProject, ofGroup] = [project, group].map(({ id }, index) => `/${['projects', 'groups'][index]}/${id}`);
  const name = 'merge_request_approval_setting';
  const below = await sent(
    as('owner').post('/groups', { name: 'Below', path: `below-${group.id}`, parent_id: group.id }),
  );
  await sent(as('maintainer').put(`${ofProject}/${name}`, { allow_author_approval: true }));
  const { iid } = await addMergeRequest(here, {}, 'maintainer');
  const approvals = async () =>
    (await as('maintainer').get(`${ofProject}/merge_requests/${iid}/approvals`)).body.user_can_approve;
  assert.equal(await approvals(), true);

  const strict = await sent(as('owner').put(`${ofGroup}/${name}`, { allow_author_approval: false }));
  assert.deepEqual(strict.allow_author_approval, free(false));
  assert.equal(await approvals(), false);
  assert.equal((await as('maintainer').post(`${ofProject}/merge_requests/${iid}/approve`)).status, 401);
  const shown = (await as('maintainer').get(`${ofProject}/${name}`)).body;
  assert.deepEqual(shown.allow_author_approval, imposed(false));
  assert.deepEqual((await as('owner').get(`/groups/${below.id}/${name}`)).body.allow_author_approval, imposed(false));
  for (const refused of [
    await as('maintainer').put(`${ofProject}/${name}`, {
      allow_author_approval: true,
      require_password_to_approve: true,
    }),
    await as('owner').put(`/groups/${below.id}/${name}`, { allow_author_approval: true }),
  ])
    assert.deepEqual([refused.status, refused.body.message], [400, { allow_author_approval: ['cannot be changed'] }]);
  const old = await as('maintainer').post(`${ofProject}/approvals`, { merge_requests_author_approval: true });
  assert.deepEqual(old.body.message, { merge_requests_author_approval: ['cannot be changed'] });
  assert.deepEqual(
    (await as('maintainer').get(`${ofProject}/${name}`)).body.require_password_to_approve,
    free(false),
    'nothing was changed',
  );
  assert.equal((await as('maintainer').put(`${ofProject}/${name}`, { allow_author_approval: false })).status, 200);

  await sent(as('owner').put(`${ofGroup}/${name}`, { allow_author_approval: true, require_password_to_approve: true }));
  assert.equal(await approvals(), true, 'what the project said counts again');
  assert.equal((await as('maintainer').post(`${ofProject}/merge_requests/${iid}/approve`)).status, 401);
});
