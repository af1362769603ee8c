/** From which addresses the server and its groups are reached (docs/reference/addresses.md). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gitClient, remoteOf } from '../support/git.ts';
import { addIssue } from '../support/issues.ts';
import { sent } from '../support/sent.ts';
import { type Persona, type World, world } from '../support/world.ts';

/** On a server behind a proxy, which says from which address a client comes. */
const place = () => world({ environment: { COPPICE_TRUSTED_PROXIES: '127.0.0.1' } });

const inside = '192.0.2.7';
const outside = '198.51.100.7';

/** Calls of a person from an address. */
function from({ as }: World, persona: Persona, address: string) {
  const { token } = as(persona);
  assert.ok(token);
  return { 'private-token': token, 'x-forwarded-for': address };
}

async function statusOf(here: World, path: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(`${here.url}${path}`, { headers, redirect: 'manual' })).status;
}

const listed = async (here: World, path: string, headers: Record<string, string>) => {
  const response = await fetch(`${here.url}/api/v4${path}`, { headers });
  return ((await response.json()) as { id: number }[]).map(({ id }) => id);
};

/** Restricts the world's group, which is public, with its project. */
async function restricted(t: TestContext) {
  const here = await place();
  const { group, project } = here;
  await sent(here.as('admin').put(`/groups/${group.id}`, { visibility: 'public' }));
  await sent(here.as('admin').put(`/projects/${project.id}`, { visibility: 'public' }));
  const issue = await addIssue(here, { title: `Inside of ${project.path}` });
  await sent(here.as('admin').put(`/groups/${group.id}`, { ip_restriction_ranges: '192.0.2.0/24,2001:db8::/32' }));
  t.after(() => here.as('admin').put(`/groups/${group.id}`, { ip_restriction_ranges: '' }));
  return { ...here, issue };
}

test('a group and what is in it are hidden from other addresses, also from those who belong to it', async (t) => {
  const here = await restricted(t);
  const { group, project } = here;
  const { iid } = here.issue;
  const paths = [
    `/api/v4/groups/${group.id}`,
    `/api/v4/projects/${project.id}`,
    `/api/v4/projects/${encodeURIComponent(project.full_path)}/issues/${iid}`,
    `/api/v4/groups/${group.id}/projects`,
  ];
  for (const path of paths) {
    assert.equal(await statusOf(here, path, from(here, 'developer', inside)), 200, `${path} inside`);
    assert.equal(await statusOf(here, path, { 'x-forwarded-for': inside }), 200, `${path} inside, anonymously`);
    assert.equal(await statusOf(here, path, from(here, 'admin', outside)), 200, `${path} for administrators`);
    assert.equal(await statusOf(here, path, from(here, 'developer', outside)), 404, `${path} outside`);
  }
  for (const path of [paths[0]!, `/${project.full_path}/-/issues/${iid}`])
    assert.deepEqual(
      [
        await statusOf(here, path, { 'x-forwarded-for': inside }),
        await statusOf(here, path, { 'x-forwarded-for': outside }),
      ],
      [200, 404],
    );
  assert.equal(await statusOf(here, paths[0]!, from(here, 'owner', outside)), 200, 'owners change the ranges');
  assert.equal(await statusOf(here, paths[1]!, from(here, 'owner', outside)), 404, 'and see no project');
});

test('lists and searches leave it out', async (t) => {
  const here = await restricted(t);
  const { group, project } = here;
  const { id } = here.issue;
  for (const [path, one] of [
    ['/projects?membership=true', project.id],
    [`/projects?search=${project.path}`, project.id],
    ['/groups', group.id],
    ['/groups?all_available=true&per_page=100', group.id],
    [`/issues?scope=all&search=${project.path}`, id],
    [`/search?scope=issues&search=${project.path}`, id],
  ] as const) {
    assert.ok((await listed(here, path, from(here, 'developer', inside))).includes(one), `${path} inside`);
    assert.ok(!(await listed(here, path, from(here, 'developer', outside))).includes(one), `${path} outside`);
  }
});

test('git over HTTP answers from inside alone', async (t) => {
  const here = await restricted(t);
  const client = await gitClient();
  const reads = async (address: string) => {
    const remote = remoteOf(here.url, here.project.full_path, here.as('developer').token);
    const { code, stderr } = await client.run(
      ['-c', `http.extraHeader=X-Forwarded-For: ${address}`, 'ls-remote', remote],
      { at: '.' },
    );
    return code === 0 ? 'reads' : /not found/.test(stderr) ? 'hidden' : stderr;
  };
  assert.deepEqual([await reads(inside), await reads(outside)], ['reads', 'hidden']);
});

test('ranges are of top-level groups, valid, and let in whoever sets them', async (t) => {
  const here = await restricted(t);
  const set = async (id: number, ranges: string, address: string, persona: Persona = 'owner') => {
    const response = await fetch(`${here.url}/api/v4/groups/${id}`, {
      method: 'PUT',
      headers: { ...from(here, persona, address), 'content-type': 'application/json' },
      body: JSON.stringify({ ip_restriction_ranges: ranges }),
    });
    const body = (await response.json()) as { message?: unknown; ip_restriction_ranges?: unknown };
    return response.status === 200 ? body.ip_restriction_ranges : body.message;
  };
  const { id } = here.group;
  assert.equal(await set(id, '192.0.2.0/24', inside), '192.0.2.0/24');
  const refused = (reason: string) => ({ ip_restriction_ranges: [reason] });
  assert.deepEqual(await set(id, '198.51.100.0/24', inside), refused('would lock you out'));
  assert.deepEqual(await set(id, '192.0.2.0/33', inside), refused('is an invalid IP address range'));
  assert.deepEqual(await set(id, 'nonsense', inside), refused('is an invalid IP address range'));
  assert.deepEqual(await set(id, Array(101).fill('192.0.2.7').join(), inside), refused('has more than 100 ranges'));
  const sub = await sent(here.as('admin').post('/groups', { name: 'Sub', path: `sub-${id}`, parent_id: id }));
  assert.deepEqual(await set(sub.id, '192.0.2.0/24', inside), refused('is only for top-level groups'));
  await sent(here.as('admin').put('/application/settings', { globally_allowed_ips: '203.0.113.0/24' }));
  t.after(() => here.as('admin').put('/application/settings', { globally_allowed_ips: '' }));
  assert.equal(await statusOf(here, `/api/v4/projects/${here.project.id}`, from(here, 'guest', '203.0.113.9')), 200);
  assert.equal(await set(id, '', inside), null);
  assert.equal(await statusOf(here, `/api/v4/projects/${here.project.id}`, from(here, 'guest', outside)), 200);
});

test('the server is reached from its ranges, and from the machine itself', async (t) => {
  const here = await place();
  const set = async (ranges: string, address: string) => {
    const response = await fetch(`${here.url}/api/v4/application/settings`, {
      method: 'PUT',
      headers: { ...from(here, 'admin', address), 'content-type': 'application/json' },
      body: JSON.stringify({ ip_restriction_ranges: ranges }),
    });
    return response.status;
  };
  t.after(() => here.as('admin').put('/application/settings', { ip_restriction_ranges: '' }));
  assert.equal(await set('192.0.2.0/24', outside), 400);
  assert.equal(await set('192.0.2.0/24', inside), 200);
  for (const path of ['/api/v4/version', '/users/sign_in', '/assets/x.css', `/${here.project.full_path}.git/info/refs`])
    assert.equal(await statusOf(here, path, from(here, 'admin', outside)), 403, path);
  assert.equal(await statusOf(here, '/-/readiness', { 'x-forwarded-for': outside }), 200);
  assert.equal(await statusOf(here, '/api/v4/version', from(here, 'guest', inside)), 200);
  assert.equal(await statusOf(here, '/api/v4/version', { 'private-token': here.as('guest').token! }), 200, 'loopback');
});
