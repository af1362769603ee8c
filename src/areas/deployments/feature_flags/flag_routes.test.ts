import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { arrived, emptyPlaces, recordsOf } from '../../../../test/support/relations.ts';
import { sent } from '../../../../test/support/sent.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { featureFlags, featureFlagUserLists } from './index.ts';

let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
after(() => receiver.stop());

const flagsUrl = ({ project }: World) => `/projects/${project.id}/feature_flags`;
const listsUrl = ({ project }: World) => `/projects/${project.id}/feature_flags_user_lists`;

const everyone = { name: 'default', parameters: {} };
const rollout = { name: 'flexibleRollout', parameters: { groupId: 'orchard', rollout: '50', stickiness: 'default' } };

test('a flag is created, shown, listed, changed and deleted', async () => {
  const here = await world({});
  const developer = here.as('developer');
  const url = flagsUrl(here);
  const scopes = [{ environment_scope: 'production' }, { environment_scope: 'review/*' }];
  const added = await developer.post(url, {
    name: 'new-press',
    description: 'The new press',
    version: 'new_version_flag',
    strategies: [{ ...rollout, parameters: JSON.stringify(rollout.parameters), scopes }, everyone],
    scopes: [{ environment_scope: 'old' }],
  });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { body: flag } = added;
  const [first, second] = flag.strategies;
  assert.deepEqual(flag, {
    iid: 1,
    name: 'new-press',
    description: 'The new press',
    active: true,
    version: 'new_version_flag',
    created_at: flag.created_at,
    updated_at: flag.updated_at,
    scopes: [],
    strategies: [
      {
        id: first.id,
        ...rollout,
        scopes: scopes.map((scope, index) => ({ id: first.scopes[index].id, ...scope })),
        user_list: null,
      },
      { id: second.id, ...everyone, scopes: [{ id: second.scopes[0].id, environment_scope: '*' }], user_list: null },
    ],
  });
  assert.deepEqual((await developer.get(`${url}/new-press`)).body, flag);

  const strategies = [{ ...everyone, scopes: [] }];
  const off = await sent(developer.post(url, { name: 'cellar', active: false, strategies }));
  assert.equal(off.strategies[0].scopes[0].environment_scope, '*');
  assert.deepEqual((await developer.get(url)).body, [off, flag]);
  assert.deepEqual((await developer.get(url, { scope: 'enabled' })).body, [flag]);
  assert.deepEqual((await developer.get(url, { scope: 'disabled' })).body, [off]);
  assert.equal((await developer.get(url, { scope: 'odd' })).status, 400);

  const [production, review] = first.scopes;
  const changed = await developer.put(`${url}/new-press`, {
    name: 'press',
    strategies: [
      {
        id: first.id,
        scopes: [
          { id: production.id, environment_scope: 'review/*' },
          { id: review.id, environment_scope: 'production' },
          { environment_scope: 'staging' },
        ],
      },
      { id: second.id, _destroy: true },
      { name: 'userWithId', parameters: { userIds: 'rowan,hazel' } },
    ],
  });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal(changed.body.description, 'The new press');
  assert.deepEqual(
    changed.body.strategies.map(({ name, scopes }: { name: string; scopes: { environment_scope: string }[] }) => [
      name,
      ...scopes.map(({ environment_scope }) => environment_scope),
    ]),
    [
      ['flexibleRollout', 'review/*', 'production', 'staging'],
      ['userWithId', '*'],
    ],
  );
  assert.equal((await developer.get(`${url}/new-press`)).status, 404);
  const same = await developer.put(`${url}/press`, { description: 'The new press' });
  assert.deepEqual(same.body, changed.body);

  const deleted = await developer.delete(`${url}/press`);
  assert.deepEqual([deleted.status, deleted.body], [200, changed.body]);
  const gone = await developer.delete(`${url}/press`);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }]);
  assert.equal((await sent(developer.post(url, { name: 'press' }))).iid, 3, 'a number is not given again');
});

test('invalid flags are refused with a sentence for each reason, and nothing changes', async () => {
  const here = await world({});
  const developer = here.as('developer');
  const url = flagsUrl(here);
  const { id: strategy_id } = (await sent(developer.post(url, { name: 'press', strategies: [everyone] })))
    .strategies[0];
  const before = (await developer.get(url)).body;
  const wrongName =
    "Name can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'";
  const parameters = 'Strategies parameters';
  const withStrategy = (strategy: object) => ({ name: 'other', strategies: [strategy] });
  const ids = `${parameters} userIds must be a string of unique comma separated values each 256 characters or less`;
  const refusals: [object, unknown][] = [
    [{ name: 'press' }, ['Name has already been taken']],
    [{ name: 'P' }, ['Name is too short (minimum is 2 characters)', wrongName]],
    [{ name: 'a'.repeat(64) }, ['Name is too long (maximum is 63 characters)']],
    [{ name: 'press-' }, [wrongName]],
    [{ name: ' ' }, ["Name can't be blank"]],
    [{ name: 'other', description: 'x'.repeat(256) }, ['Description is too long (maximum is 255 characters)']],
    [{ name: 'other', version: 'legacy_flag' }, 'Version is invalid'],
    [withStrategy({ name: 'odd', parameters: {} }), ['Strategies name strategy name is invalid']],
    [withStrategy({ name: 'default', parameters: { a: '1' } }), [`${parameters} parameters are invalid`]],
    [withStrategy({ name: 'default', parameters: '{' }), [`${parameters} parameters are invalid`]],
    [
      withStrategy({ ...rollout, parameters: { groupId: 'A', rollout: 50, stickiness: 'x' } }),
      [
        `${parameters} groupId parameter is invalid`,
        `${parameters} rollout must be a string between 0 and 100 inclusive`,
        `${parameters} stickiness parameter must be default, userId, sessionId, or random`,
      ],
    ],
    [
      withStrategy({ name: 'gradualRolloutUserId', parameters: { groupId: 'orchard', percentage: '101' } }),
      [`${parameters} percentage must be a string between 0 and 100 inclusive`],
    ],
    [withStrategy({ name: 'userWithId', parameters: { userIds: 'a,a' } }), [ids]],
    [withStrategy({ name: 'userWithId', parameters: { userIds: 'a, b' } }), [ids]],
    [withStrategy({ name: 'gitlabUserList', parameters: {} }), ["Strategies user list can't be blank"]],
    [withStrategy({ ...everyone, user_list_id: 1 }), ['Strategies user list must be blank']],
    [
      withStrategy({ name: 'gitlabUserList', parameters: {}, user_list_id: 9_999_999 }),
      ['Strategies user list must belong to the same project'],
    ],
    [
      withStrategy({ ...everyone, scopes: [{ environment_scope: 'a?' }] }),
      [
        "Strategies scopes environment scope can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
      ],
    ],
    [
      withStrategy({ ...everyone, scopes: [{ environment_scope: 'a' }, { environment_scope: 'a' }] }),
      ['Strategies scopes environment scope has already been taken'],
    ],
  ];
  for (const [body, message] of refusals) {
    const refused = await developer.post(url, { ...body });
    assert.deepEqual([refused.status, refused.body], [400, { message }]);
  }
  const missing = await developer.post(url, { strategies: [{}] });
  assert.equal(
    missing.body.message,
    'name is missing, strategies[0][name] is missing, strategies[0][parameters] is missing',
  );
  for (const strategy of [{ id: strategy_id + 1000 }, { id: strategy_id, scopes: [{ id: 9_999_999 }] }])
    assert.deepEqual((await developer.put(`${url}/press`, { active: false, strategies: [strategy] })).body, {
      message: '404 Not found',
    });
  const more = { id: strategy_id, parameters: { a: 1 } };
  assert.equal((await developer.put(`${url}/press`, { active: false, strategies: [more] })).status, 400);
  assert.deepEqual((await developer.get(url)).body, before);
});

test('flags are available to developers of a project where they are enabled', async () => {
  const here = await world({});
  const url = flagsUrl(here);
  await sent(here.as('developer').post(url, { name: 'press' }));
  for (const [persona, status] of [
    ['anonymous', 401],
    ['outsider', 404],
    ['reporter', 403],
  ] as const)
    for (const path of [url, `${url}/press`, `${url}/unknown`, listsUrl(here)])
      assert.equal((await here.as(persona).get(path)).status, status, `${persona} ${path}`);
  const client = `/projects/${here.project.id}/feature_flags_client`;
  assert.equal((await here.as('developer').get(client)).status, 403);
  assert.equal((await here.as('developer').post(`${client}/reset_token`)).status, 403);

  for (const level of ['feature_flags_access_level', 'repository_access_level']) {
    await sent(here.as('owner').put(`/projects/${here.project.id}`, { [level]: 'disabled' }));
    assert.equal((await here.as('owner').get(url)).status, 403);
    await sent(here.as('owner').put(`/projects/${here.project.id}`, { [level]: 'enabled' }));
  }
  await here.as('owner').post(`/projects/${here.project.id}/archive`);
  assert.equal((await here.as('developer').get(url)).status, 200);
  for (const call of [
    here.as('developer').post(url, { name: 'other' }),
    here.as('developer').put(`${url}/press`, { active: false }),
    here.as('developer').delete(`${url}/press`),
    here.as('developer').post(listsUrl(here), { name: 'Pickers', user_xids: 'rowan' }),
  ])
    assert.equal((await call).status, 403);
});

test('a project cannot exceed the limit of flags, even with concurrent requests', async () => {
  const here = await world({});
  const url = flagsUrl(here);
  await sent(here.as('admin').put('/application/settings', { project_feature_flags_limit: 2 }));
  await sent(here.as('developer').post(url, { name: 'first' }));
  const names = ['second', 'third', 'fourth', 'second'];
  const replies = await Promise.all(names.map((name) => here.as('developer').post(url, { name })));
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 400, 400, 400]);
  assert.deepEqual(replies.find(({ status }) => status === 400)!.body, {
    message: ['Maximum number of project feature flags (2) exceeded'],
  });
  await sent(here.as('admin').put('/application/settings', { project_feature_flags_limit: 200 }));
});

test('a user list used by a strategy cannot be deleted', async () => {
  const here = await world({});
  const developer = here.as('developer');
  const url = listsUrl(here);
  const list = await sent(developer.post(url, { name: 'Pickers', user_xids: 'rowan,hazel' }));
  assert.deepEqual(list, {
    id: list.id,
    iid: 1,
    project_id: here.project.id,
    created_at: list.created_at,
    updated_at: list.updated_at,
    name: 'Pickers',
    user_xids: 'rowan,hazel',
    path: `/${here.project.full_path}/-/feature_flags_user_lists/1`,
    edit_path: `/${here.project.full_path}/-/feature_flags_user_lists/1/edit`,
  });
  const other = await sent(developer.post(url, { name: '100%', user_xids: 'ash' }));
  assert.deepEqual((await developer.get(url)).body, [list, other]);
  assert.deepEqual((await developer.get(url, { search: 'ICK' })).body, [list]);
  assert.deepEqual((await developer.get(url, { search: '%' })).body, [other]);

  const strategies = [{ name: 'gitlabUserList', parameters: {}, user_list_id: list.id }];
  const flag = await sent(developer.post(flagsUrl(here), { name: 'press', strategies }));
  const { id, iid, name, user_xids } = list;
  assert.deepEqual(flag.strategies[0].user_list, { id, iid, name, user_xids });
  const kept = await developer.delete(`${url}/1`);
  assert.deepEqual([kept.status, kept.body], [409, { message: ['User list is associated with a strategy'] }]);
  const { body: changed } = await developer.put(`${url}/1`, { user_xids: 'rowan' });
  assert.equal((await developer.get(`${flagsUrl(here)}/press`)).body.strategies[0].user_list.user_xids, 'rowan');
  assert.deepEqual((await developer.get(`${url}/1`)).body, changed);

  const refusals: [object, string][] = [
    [{ name: '100%' }, 'Name has already been taken'],
    [{ name: ' ' }, "Name can't be blank"],
    [{ name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters)'],
    [
      { user_xids: 'a,,b' },
      'User xids user_xids must be a string of unique comma separated values each 256 characters or less',
    ],
  ];
  for (const [given, message] of refusals)
    assert.deepEqual((await developer.put(`${url}/1`, { ...given })).body, { message: [message] });
  assert.equal((await developer.post(url, { name: 'More' })).body.message, 'user_xids is missing');
  assert.deepEqual((await developer.get(`${url}/1`)).body, changed);

  // Another kind of strategy needs no list, and has none any more.
  const [{ id: strategy_id }] = flag.strategies;
  const off = await sent(developer.put(`${flagsUrl(here)}/press`, { strategies: [{ id: strategy_id, ...everyone }] }));
  assert.equal(off.strategies[0].user_list, null);
  assert.equal((await developer.delete(`${url}/1`)).status, 204);
  assert.equal((await developer.get(`${url}/1`)).status, 404);
});

test('webhooks are sent when a flag is created, changed and deleted, and not when nothing changes', async () => {
  const here = await world({});
  await allowLocalHooks(here);
  const hooks = `/projects/${here.project.id}/hooks`;
  const hook = await sent(
    here.as('maintainer').post(hooks, { url: `${receiver.url}/flags`, push_events: false, feature_flag_events: true }),
  );
  const test = `${hooks}/${hook.id}/test/feature_flag_events`;
  assert.deepEqual((await here.as('maintainer').post(test)).body, {
    message: 'Ensure the project has feature flags.',
  });
  const url = flagsUrl(here);
  await sent(here.as('developer').post(url, { name: 'press' }));
  await sent(here.as('developer').put(`${url}/press`, { active: false }));
  await sent(here.as('developer').put(`${url}/press`, { active: false }));
  assert.equal((await here.as('maintainer').post(test)).status, 201);
  await sent(here.as('developer').delete(`${url}/press`));
  await sendHooks(here);
  const received = receiver.take();
  // Deliveries do not always arrive in the order of their events.
  assert.deepEqual(
    received.map(({ headers, body }) => `${headers['x-gitlab-event']} ${body.object_attributes.active}`).toSorted(),
    [...Array(3).fill('Feature Flag Hook false'), 'Feature Flag Hook true'],
  );
  const { body } = received.find((one) => one.body.object_attributes.active)!;
  assert.deepEqual(Object.keys(body), ['object_kind', 'project', 'user', 'user_url', 'object_attributes']);
  assert.deepEqual(
    [body.object_kind, body.project.id, body.user.id, body.user_url, Object.keys(body.object_attributes)],
    [
      'feature_flag',
      here.project.id,
      here.people.developer.id,
      `http://coppice.test/${here.people.developer.username}`,
      ['id', 'name', 'description', 'active'],
    ],
  );
});

test('flags and lists are exported and imported with a project, without its instance id', async () => {
  const here = await world({});
  const developer = here.as('developer');
  const list = await sent(developer.post(listsUrl(here), { name: 'Pickers', user_xids: 'rowan' }));
  const strategies = [
    { name: 'gitlabUserList', parameters: {}, user_list_id: list.id, scopes: [{ environment_scope: 'production' }] },
    rollout,
  ];
  await sent(developer.post(flagsUrl(here), { name: 'press', description: 'New', active: false, strategies }));
  const source = { kind: 'project', id: here.project.id } as const;
  const lists = await recordsOf(here, featureFlagUserLists, source);
  const flags = await recordsOf(here, featureFlags, source);
  assert.ok(!JSON.stringify([lists, flags]).includes('glffct'));
  const { project } = await emptyPlaces(here);
  await arrived(here, featureFlagUserLists, project, lists);
  const broken = { ...flags[0], iid: 7, name: 'broken', strategies: [{ name: 'userWithId', parameters: {} }] };
  const { failures } = await arrived(here, featureFlags, project, [...flags, broken]);
  assert.deepEqual(
    failures.map(({ message }) => message),
    ['parameters are invalid'],
  );
  assert.deepEqual(await recordsOf(here, featureFlagUserLists, project), lists);
  const there = (await here.as('owner').get(`/projects/${project.id}/feature_flags/press`)).body;
  assert.equal(there.strategies[0].user_list.user_xids, 'rowan');
  assert.notEqual(there.strategies[0].user_list.id, list.id);
  assert.deepEqual((await recordsOf(here, featureFlags, project))[0], flags[0]);
});
