import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { addRole } from '../../../../test/support/member_roles.ts';
import { sent } from '../../../../test/support/sent.ts';
import { signInFile } from '../../../../test/support/sign_in_file.ts';
import { world } from '../../../../test/support/world.ts';

let environment: Record<string, string>;

before(async () => {
  const directory = { type: 'ldap', encryption: 'plain', base: 'dc=example', hosts: ['127.0.0.1:1'] };
  const single = { type: 'oidc', issuer: 'http://127.0.0.1:1', client_id: 'forge' };
  const providers = [
    { ...directory, name: 'directory' },
    { ...directory, name: 'second' },
    { ...single, name: 'single' },
    { ...single, name: 'other' },
  ];
  environment = await signInFile({ providers });
});

test('a group is linked with groups of a directory, by cn or by filter', async () => {
  const { as, group } = await world({ environment });
  const url = `/groups/${group.id}/ldap_group_links`;
  assert.deepEqual((await as('owner').get(url)).body, []);
  const cooks = { provider: 'directory', cn: 'cooks', group_access: 30 };
  const linked = { ...cooks, filter: null, member_role_id: null };
  const made = await as('owner').post(url, cooks);
  assert.deepEqual([made.status, made.body], [201, linked]);
  const title = { provider: 'directory', filter: '(title=cook)', group_access: 20 };
  assert.equal((await as('owner').post(url, title)).status, 201);
  await sent(as('owner').post(url, { ...cooks, provider: 'second', group_access: 40 }));
  await sent(as('owner').post(url, { ...cooks, cn: 'bakers', group_access: 10 }));
  const listed = [
    linked,
    { ...title, cn: null, member_role_id: null },
    { ...linked, provider: 'second', group_access: 40 },
    { ...linked, cn: 'bakers', group_access: 10 },
  ];
  assert.deepEqual((await as('owner').get(url)).body, listed);
  assert.deepEqual((await as('owner').get(`${url}?per_page=1&page=2`)).body, [listed[1]]);
  const shown = await sent(as('guest').get(`/groups/${group.id}`));
  assert.deepEqual([shown.ldap_cn, shown.ldap_access], ['bakers', 10]);

  const refusals: [Record<string, unknown>, unknown][] = [
    [cooks, { message: { cn: ['has already been taken'] } }],
    [title, { message: { filter: ['has already been taken'] } }],
    [{ ...cooks, provider: 'single' }, { message: { provider: ['does not exist'] } }],
    [{ ...cooks, provider: 'nowhere' }, { message: { provider: ['does not exist'] } }],
    [{ provider: 'directory', group_access: 30 }, 'cn, filter are missing, exactly one parameter must be provided'],
    [{ ...cooks, filter: '(a=b)' }, 'cn, filter are mutually exclusive'],
    [{ ...cooks, cn: 'others', group_access: 31 }, 'group_access does not have a valid value'],
    ...['*)(uid=*', '(a=b', '(a=b)(c=d)', '(&)', '(a=\\zz)', ')'].map((filter): [Record<string, unknown>, unknown] => [
      { ...title, filter },
      'filter is invalid',
    ]),
  ];
  for (const [given, body] of refusals) {
    const refused = await as('owner').post(url, given);
    assert.equal(refused.status, 400, JSON.stringify(given));
    const text = typeof body === 'string' ? { message: body, error: body } : body;
    assert.deepEqual(refused.body, text, JSON.stringify(given));
  }
  for (const given of [
    { ...cooks, cn: '' },
    { ...cooks, cn: 'x'.repeat(256) },
    { ...cooks, cn: 'a\u0000' },
  ])
    assert.equal((await as('owner').post(url, given)).status, 400, JSON.stringify(given));
  assert.deepEqual((await as('owner').get(url)).body, listed);

  const gone = { message: '404 LDAP Group Link Not Found' };
  const missing = await as('owner').delete(url, { provider: 'second', cn: 'bakers' });
  assert.deepEqual([missing.status, missing.body], [404, gone]);
  assert.equal((await as('owner').delete(url, { provider: 'directory' })).status, 400);
  assert.equal((await as('owner').delete(url, { provider: 'directory', filter: title.filter })).status, 204);
  assert.equal((await as('owner').delete(`${url}/second/bakers`)).status, 404);
  assert.equal((await as('owner').delete(`${url}/directory/bakers`)).status, 204);
  assert.equal((await as('owner').delete(`${url}/cooks`)).status, 204, 'of all directories');
  assert.equal((await as('owner').delete(`${url}/cooks`)).status, 404);
  assert.deepEqual((await as('owner').get(url)).body, []);
  const after = await sent(as('guest').get(`/groups/${group.id}`));
  assert.deepEqual([after.ldap_cn, after.ldap_access], [null, null]);
});

test('a group is linked with groups that other providers state', async () => {
  const { as, group } = await world({ environment });
  const url = `/groups/${group.id}/saml_group_links`;
  const given = { saml_group_name: 'the cooks/2', access_level: 30 };
  const linked = { name: 'the cooks/2', access_level: 30, member_role_id: null, provider: null };
  const made = await as('owner').post(url, given);
  assert.deepEqual([made.status, made.body], [201, linked]);
  const one = `${url}/${encodeURIComponent(linked.name)}`;
  assert.deepEqual((await as('owner').get(one)).body, linked);
  const taken = await as('owner').post(url, given);
  assert.deepEqual([taken.status, taken.body], [400, { message: { saml_group_name: ['has already been taken'] } }]);
  for (const provider of ['directory', 'nowhere']) {
    const { status, body } = await as('owner').post(url, { ...given, provider });
    assert.deepEqual([status, body], [400, { message: { provider: ['does not exist'] } }]);
  }
  await sent(as('owner').post(url, { ...given, provider: 'single', access_level: 40 }));
  assert.deepEqual((await as('owner').get(url)).body, [linked, { ...linked, provider: 'single', access_level: 40 }]);
  const unclear = { message: 'Several providers are linked with this name. Name the provider.' };
  for (const answer of [await as('owner').get(one), await as('owner').delete(one)])
    assert.deepEqual([answer.status, answer.body], [422, unclear]);
  const named = await as('owner').get(`${one}?provider=single`);
  assert.deepEqual(named.body, { ...linked, provider: 'single', access_level: 40 });
  assert.deepEqual((await as('owner').get(`${one}?provider=`)).body, linked);
  assert.equal((await as('owner').delete(`${one}?provider=single`)).status, 204);
  assert.equal((await as('owner').delete(one)).status, 204);
  const missing = await as('owner').get(one);
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 SAML Group Link Not Found' }]);
  assert.equal((await as('owner').delete(one)).status, 404);
});

test('a link can give a custom role, which stays while it does', async () => {
  const here = await world({ environment });
  const { as, group } = here;
  const base = { base_access_level: 20 };
  const role = await addRole(here, ['read_vulnerability'], { ...base, group_id: group.id });
  const elsewhere = await sent(here.as('owner').post('/groups', { name: 'Other', path: `other-${group.id}` }));
  const foreign = await addRole(here, ['read_vulnerability'], { ...base, group_id: elsewhere.id });
  const url = `/groups/${group.id}/saml_group_links`;
  const given = { saml_group_name: 'cooks', access_level: 20 };
  for (const [member_role_id, access_level] of [
    [role, 30],
    [foreign, 20],
    [99_999_999, 20],
  ]) {
    const refused = await as('owner').post(url, { ...given, member_role_id, access_level });
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
  }
  const link = await sent(as('owner').post(url, { ...given, member_role_id: role }));
  assert.equal(link.member_role_id, role);
  const remove = () => as('owner').delete(`/groups/${group.id}/member_roles/${role}`);
  assert.equal((await remove()).status, 400);
  await sent(as('owner').delete(`${url}/cooks`));
  assert.equal((await remove()).status, 204);
});

test('a group has up to 100 links of a kind, and 10 filters', async () => {
  const { as, group, db } = await world({ environment });
  const row = { group_id: group.id, provider: 'directory', access_level: 10 };
  const filters = Array.from({ length: 10 }, (_, index) => ({ ...row, filter: `(title=${index})` }));
  await db.insertInto('ldap_group_links').values(filters).execute();
  const url = `/groups/${group.id}/ldap_group_links`;
  const more = { provider: 'directory', group_access: 10 };
  const refused = await as('owner').post(url, { ...more, filter: '(title=x)' });
  assert.deepEqual([refused.status, refused.body], [400, { message: { filter: ['has too many links'] } }]);
  const names = Array.from({ length: 89 }, (_, index) => ({ ...row, cn: `group ${index}` }));
  await db.insertInto('ldap_group_links').values(names).execute();
  await sent(as('owner').post(url, { ...more, cn: 'the last' }));
  const full = await as('owner').post(url, { ...more, cn: 'one more' });
  assert.deepEqual([full.status, full.body], [400, { message: { cn: ['has too many links'] } }]);
});

test('Minimal Access is for top-level groups, and all of it is Premium', async () => {
  const here = await world({ environment });
  const { as, group } = here;
  const below = await sent(as('owner').post('/groups', { name: 'Below', path: 'below', parent_id: group.id }));
  const given = { saml_group_name: 'cooks', access_level: 5 };
  const refused = await as('owner').post(`/groups/${below.id}/saml_group_links`, given);
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: { access_level: ['is not included in the list'] } }],
  );
  await sent(as('owner').post(`/groups/${group.id}/saml_group_links`, given));
  await changePlan(here, 'free');
  for (const kind of ['ldap', 'saml'])
    assert.equal((await as('owner').get(`/groups/${group.id}/${kind}_group_links`)).status, 403, kind);
  await changePlan(here, 'ultimate');
});

test('administrators can keep links with directories and memberships to themselves', async () => {
  const here = await world({ environment });
  const { as, group, project } = here;
  const links = `/groups/${group.id}/ldap_group_links`;
  const link = { provider: 'directory', cn: 'cooks', group_access: 30 };
  await sent(as('admin').put('/application/settings', { allow_group_owners_to_manage_ldap: false }));
  assert.equal((await as('owner').post(links, link)).status, 403);
  await sent(as('admin').post(links, link));
  assert.equal((await as('owner').get(links)).body.length, 1);
  assert.equal((await as('owner').delete(links, { provider: 'directory', cn: 'cooks' })).status, 403);
  await sent(as('owner').post(`/groups/${group.id}/saml_group_links`, { saml_group_name: 'cooks', access_level: 10 }));

  const [person, helper] = [await here.person(), await here.person()];
  for (const place of [`/groups/${group.id}`, `/projects/${project.id}`])
    await sent(as('owner').post(`${place}/members`, { user_id: helper.id, access_level: 30 }));
  await sent(as('admin').put('/application/settings', { lock_memberships_to_ldap: true }));
  const change = { access_level: 20 };
  for (const place of [`/groups/${group.id}`, `/projects/${project.id}`])
    for (const [status, client] of [
      [403, as('owner')],
      [200, as('admin')],
    ] as const) {
      const answers = [
        await client.post(`${place}/members`, { user_id: person.id, access_level: 20 }),
        await client.put(`${place}/members/${helper.id}`, change),
        await client.post(`${place}/invitations`, { email: 'somebody@example.com', access_level: 20 }),
        await client.delete(`${place}/members/${person.id}`),
      ];
      for (const { status: given, body } of answers)
        assert.equal(given >= 300 ? given : 200, status, JSON.stringify(body));
    }
  assert.equal((await helper.client.delete(`/groups/${group.id}/members/${helper.id}`)).status, 204, 'they leave');
});
