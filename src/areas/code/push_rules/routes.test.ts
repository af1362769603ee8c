import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { personWith } from '../../../../test/support/member_roles.ts';
import { type World, world } from '../../../../test/support/world.ts';

const ruleUrl = ({ project }: World) => `/projects/${project.id}/push_rule`;
const groupUrl = (group: { id: number }) => `/groups/${group.id}/push_rule`;

const unset = {
  commit_message_regex: null,
  commit_message_negative_regex: null,
  branch_name_regex: null,
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  author_email_regex: null,
  file_name_regex: null,
  max_file_size: 0,
  commit_committer_check: false,
  commit_committer_name_check: false,
  reject_unsigned_commits: false,
  reject_non_dco_commits: false,
};

test('the push rule of a project is added, shown, changed and deleted', async () => {
  const here = await world({});
  const maintainer = here.as('maintainer');
  const url = ruleUrl(here);
  const none = await maintainer.get(url);
  assert.deepEqual([none.status, none.body], [200, null]);

  const added = await maintainer.post(url, { commit_message_regex: '^JIRA', deny_delete_tag: true });
  assert.equal(added.status, 201);
  const { id, created_at } = added.body;
  assert.deepEqual(added.body, {
    id,
    project_id: here.project.id,
    created_at,
    ...unset,
    commit_message_regex: '^JIRA',
    deny_delete_tag: true,
  });
  assert.deepEqual(Object.keys(added.body), ['id', 'project_id', 'created_at', ...Object.keys(unset)]);
  assert.deepEqual((await maintainer.get(url)).body, added.body);

  const again = await maintainer.post(url, { deny_delete_tag: false });
  assert.deepEqual([again.status, again.body], [422, { message: 'Project push rule exists' }]);

  const changed = await maintainer.put(url, {
    commit_message_regex: '',
    max_file_size: '5',
    reject_unsigned_commits: true,
  });
  assert.equal(changed.status, 200);
  const now = { ...added.body, commit_message_regex: '', max_file_size: 5, reject_unsigned_commits: true };
  assert.deepEqual(changed.body, now);
  assert.equal((await maintainer.put(url, { commit_message_regex: null })).body.commit_message_regex, null);

  assert.equal((await maintainer.delete(url)).status, 204);
  assert.equal((await maintainer.get(url)).body, null);
  for (const gone of [await maintainer.delete(url), await maintainer.put(url, { deny_delete_tag: true })])
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Push rule Not Found' }]);
});

test('the push rule of a group is added, shown, changed and deleted', async () => {
  const { as, group } = await world({});
  const owner = as('owner');
  const url = groupUrl(group);
  for (const none of [await owner.get(url), await owner.delete(url)])
    assert.deepEqual([none.status, none.body], [404, { message: '404 Not Found' }]);
  const missing = await owner.put(url, { member_check: true });
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Push rule Not Found' }]);

  const added = await owner.post(url, { member_check: true });
  assert.equal(added.status, 201);
  assert.deepEqual(Object.keys(added.body), ['id', 'created_at', ...Object.keys(unset)]);
  const again = await owner.post(url, { member_check: false });
  assert.deepEqual([again.status, again.body], [422, { message: 'Group push rule exists, try updating' }]);
  assert.equal((await owner.put(url, { branch_name_regex: 'a|b' })).body.branch_name_regex, 'a|b');
  assert.deepEqual((await owner.get(url)).body, { ...added.body, branch_name_regex: 'a|b' });
  assert.equal((await owner.delete(url)).status, 204);
  assert.equal((await owner.get(url)).status, 404);
});

test('invalid fields are refused by name, and nothing changes', async () => {
  const here = await world({});
  const maintainer = here.as('maintainer');
  const url = ruleUrl(here);
  const names =
    'commit_message_regex, commit_message_negative_regex, branch_name_regex, deny_delete_tag, member_check, prevent_secrets, author_email_regex, file_name_regex, max_file_size, commit_committer_check, commit_committer_name_check, reject_unsigned_commits, reject_non_dco_commits';
  const text = `${names} are missing, at least one parameter must be provided`;
  const empty = await maintainer.post(url, {});
  assert.deepEqual([empty.status, empty.body], [400, { message: text, error: text }]);

  const long = (most: number) => [`is too long (maximum is ${most} characters)`];
  for (const [given, message] of [
    [{ commit_message_regex: 'a'.repeat(512) }, { commit_message_regex: long(511) }],
    [{ author_email_regex: 'a'.repeat(512) }, { author_email_regex: long(511) }],
    [{ file_name_regex: 'a'.repeat(512) }, { file_name_regex: long(511) }],
    [{ branch_name_regex: 'a'.repeat(512) }, { branch_name_regex: long(511) }],
    [{ commit_message_negative_regex: 'a'.repeat(2048) }, { commit_message_negative_regex: long(2047) }],
    [{ max_file_size: -1 }, { max_file_size: ['must be greater than or equal to 0'] }],
    [{ max_file_size: 2 ** 31 }, { max_file_size: ['must be less than or equal to 2147483647'] }],
    [
      { branch_name_regex: '(', file_name_regex: '(?=a)', commit_message_regex: 'fine' },
      {
        branch_name_regex: ['not valid RE2 syntax: missing closing ): `(`'],
        file_name_regex: ['not valid RE2 syntax: invalid or unsupported Perl syntax: `(?=`'],
      },
    ],
    [{ max_file_size: 'x' }, 'max_file_size is invalid'],
    [{ deny_delete_tag: 'x' }, 'deny_delete_tag is invalid'],
  ] as const) {
    const refused = await maintainer.post(url, given);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.equal((await maintainer.get(url)).body, null);

  assert.equal((await maintainer.post(url, { commit_message_negative_regex: 'a'.repeat(2047) })).status, 201);
  assert.equal((await maintainer.put(url, { file_name_regex: '\\1' })).status, 400);
  assert.equal((await maintainer.get(url)).body.file_name_regex, null);
});

test('only maintainers and holders of the permission manage the rule of a project', async () => {
  const here = await world({});
  const { as } = here;
  const url = ruleUrl(here);
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['guest', 403],
    ['developer', 403],
  ] as const) {
    assert.equal((await as(persona).get(url)).status, status, persona);
    assert.equal((await as(persona).post(url, { member_check: true })).status, status, persona);
  }
  const { client } = await personWith(here, `/projects/${here.project.id}`, ['admin_push_rules']);
  assert.equal((await client.post(url, { member_check: true })).status, 201);
  assert.equal((await as('developer').put(url, { member_check: false })).status, 403);
  assert.equal((await as('developer').delete(url)).status, 403);
  assert.equal((await as('owner').get(url)).body.member_check, true);
});

test('only owners and holders of the permission can see the rule of a group', async () => {
  const here = await world({});
  const { as, group } = here;
  const url = groupUrl(group);
  assert.equal((await as('owner').post(url, { member_check: true })).status, 201);
  for (const persona of ['guest', 'maintainer'] as const)
    for (const refused of [
      await as(persona).get(url),
      await as(persona).post(url, { member_check: false }),
      await as(persona).put(url, { member_check: false }),
      await as(persona).delete(url),
    ])
      assert.deepEqual([refused.status, refused.body], [404, { message: '404 Not Found' }], persona);
  assert.equal((await as('anonymous').get(url)).status, 401);
  assert.deepEqual((await as('outsider').get(url)).body, { message: '404 Group Not Found' });
  const { client } = await personWith(here, `/groups/${group.id}`, ['admin_push_rules']);
  assert.equal((await client.get(url)).body.member_check, true);
});

test('a new project starts with the rule of the nearest group, and keeps it', async () => {
  const { as, group } = await world({});
  const owner = as('owner');
  const sub = (await owner.post('/groups', { name: 'Sub', path: 'sub', parent_id: group.id })).body;
  const newProject = async (path: string, namespace_id: number) =>
    (await owner.post('/projects', { name: path, path, namespace_id })).body;
  const ruleOf = async ({ id }: { id: number }) => (await owner.get(`/projects/${id}/push_rule`)).body;

  assert.equal(await ruleOf(await newProject('before', sub.id)), null);
  await owner.post(groupUrl(group), { commit_message_regex: 'top', max_file_size: 3, deny_delete_tag: true });
  const inherited = await newProject('one', sub.id);
  const own = await ruleOf(inherited);
  assert.deepEqual(own, {
    ...unset,
    id: own.id,
    project_id: inherited.id,
    created_at: own.created_at,
    commit_message_regex: 'top',
    max_file_size: 3,
    deny_delete_tag: true,
  });

  await owner.post(groupUrl(sub), { commit_message_regex: 'sub' });
  assert.equal((await ruleOf(await newProject('two', sub.id))).commit_message_regex, 'sub');
  assert.equal((await ruleOf(await newProject('three', group.id))).commit_message_regex, 'top');
  await owner.put(groupUrl(group), { commit_message_regex: 'other' });
  assert.equal((await ruleOf(inherited)).commit_message_regex, 'top');
  await owner.delete(groupUrl(group));
  assert.equal((await ruleOf(inherited)).max_file_size, 3);
});

test('push rules need the Premium plan', async (t) => {
  const here = await world({});
  const { as, group } = here;
  const url = ruleUrl(here);
  await as('maintainer').post(url, { member_check: true });
  await as('owner').post(groupUrl(group), { member_check: true });
  t.after(() => changePlan(here, 'ultimate'));
  await changePlan(here, 'free');
  for (const refused of [await as('maintainer').get(url), await as('maintainer').put(url, { member_check: false })]) {
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /^403 Forbidden/);
  }
  for (const hidden of [await as('owner').get(groupUrl(group)), await as('owner').delete(groupUrl(group))])
    assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 Not Found' }]);
  await changePlan(here, 'premium');
  assert.equal((await as('maintainer').get(url)).body.member_check, true);
  assert.equal((await as('owner').get(groupUrl(group))).body.member_check, true);
});

test('a project whose README would break the rule of its group is not created', async () => {
  const { as, group } = await world({});
  const url = groupUrl(group);
  assert.equal((await as('owner').post(url, { commit_message_regex: '^PROJECT-\\d+' })).status, 201);
  const create = (name: string, more: object) =>
    as('owner').post('/projects', { name, namespace_id: group.id, ...more });
  const count = async () => (await as('owner').get(`/groups/${group.id}/projects`)).body.length;
  const before = await count();
  const refused = await create('Apples', { initialize_with_readme: true });
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: "Commit message does not follow the pattern '^PROJECT-\\d+'" }],
  );
  assert.equal(await count(), before);
  assert.equal((await create('Apples', {})).status, 201);

  await as('owner').put(url, {
    commit_message_regex: '^Initial',
    branch_name_regex: '^feature/',
    commit_committer_check: true,
  });
  assert.equal((await create('Bees', { initialize_with_readme: true, default_branch: 'trunk' })).status, 201);
  await as('owner').put(url, { author_email_regex: '@elsewhere\\.example$' });
  assert.equal((await create('Cherries', { initialize_with_readme: true })).status, 400);
  assert.equal(await count(), before + 2);
});
