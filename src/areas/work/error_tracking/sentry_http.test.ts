import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reports, thrown } from '../../../../test/support/error_tracking.ts';
import { type Persona, world } from '../../../../test/support/world.ts';
import { createToken } from '../../people/personal_access_tokens/index.ts';

test('clients of Sentry find projects, page through issues, read events and resolve', async () => {
  const here = await world();
  const { report } = await reports(here);
  const frames = [{ filename: 'a.js', function: 'f', lineno: 3, context_line: 'f()' }];
  await report(
    thrown('A', 'first', {
      tags: { shop: 'north' },
      exception: { values: [{ type: 'A', value: 'first', stacktrace: { frames } }] },
    }),
    thrown('B', 'second', { release: 'v1', user: { id: 1 } }),
    thrown('B', 'second'),
  );
  const tokenOf = async (persona: Exclude<Persona, 'anonymous'>, scope: string) => {
    const user_id = here.people[persona].id;
    return (await createToken(here.db, { user_id, name: 'sentry', scopes: [scope], expires_at: null })).value;
  };
  const tokens = {
    reads: await tokenOf('reporter', 'read_api'),
    develops: await tokenOf('developer', 'api'),
    plans: await tokenOf('planner', 'api'),
    pulls: await tokenOf('developer', 'read_repository'),
    outside: await tokenOf('outsider', 'api'),
  };
  const ask = async (path: string, by: keyof typeof tokens | null = 'reads', body?: object) => {
    const reply = await fetch(`${here.url}/api/0${path}`, {
      method: body ? 'PUT' : 'GET',
      headers: { ...(by ? { authorization: `Bearer ${tokens[by]}` } : {}), 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: replies of many forms.
    return { status: reply.status, link: reply.headers.get('link'), body: (await reply.json()) as any };
  };

  const { id, path, full_path } = here.project;
  const { name } = (await here.as('owner').get(`/projects/${id}`)).body;
  const org = full_path.split('/')[0]!;
  const isDirect = full_path === `${org}/${path}`;
  const slug = isDirect ? path : String(id);
  const listed = await ask('/projects/');
  const organization = { id: org, name: org, slug: org };
  assert.deepEqual(listed.body, [{ id: String(id), name, slug, status: 'active', organization }]);
  assert.deepEqual((await ask('/projects/', 'outside')).body, []);
  const repositories = (await ask(`/organizations/${org}/repos/`)).body;
  assert.deepEqual(
    repositories.map((each: { name: string }) => each.name),
    [full_path],
  );

  const issues = `/projects/${org}/${slug}/issues/`;
  const page = await ask(`${issues}?limit=1&sort=freq&query=is:unresolved`);
  assert.equal(page.status, 200);
  const [issue] = page.body;
  assert.deepEqual(
    [issue.title, issue.count, issue.userCount, issue.status, issue.metadata, issue.project.slug],
    ['B second', '2', 1, 'unresolved', { type: 'B', value: 'second' }, slug],
  );
  assert.equal(issue.stats['24h'].length, 24);
  assert.deepEqual(issue.firstRelease, { version: 'v1', shortVersion: 'v1', lastCommit: null });
  assert.match(
    page.link!,
    /rel="previous"; results="false"; cursor="0:0:1", .*rel="next"; results="true"; cursor="0:1:0"$/,
  );
  const next = await ask(`${issues}?limit=1&sort=freq&query=is:unresolved&cursor=0:1:0`);
  assert.equal(next.body[0].title, 'A first');
  assert.match(
    next.link!,
    /rel="previous"; results="true"; cursor="0:0:1", .*rel="next"; results="false"; cursor="0:2:0"$/,
  );
  assert.equal((await ask(`${issues}?query=is:unresolved%20first`)).body.length, 1);
  assert.equal((await ask(`/projects/${org}/${id}/issues/`)).body.length, 2);
  // The name of a member that every object has is no order.
  assert.equal((await ask(`${issues}?sort=toString`)).body.length, 2);

  const first = next.body[0].id;
  const { body: event } = await ask(`/issues/${first}/events/latest/`);
  const shown = { lineNo: 3, colNo: null, filename: 'a.js', absPath: null, module: null, function: 'f', inApp: false };
  assert.deepEqual(event.entries[0].data.values, [
    { type: 'A', value: 'first', module: null, stacktrace: { frames: [{ ...shown, context: [[3, 'f()']] }] } },
  ]);
  assert.deepEqual([event.groupID, event.projectID], [first, String(id)]);
  assert.ok(event.tags.some(({ key, value }: { key: string; value: string }) => key === 'shop' && value === 'north'));
  assert.deepEqual((await ask(`/issues/${first}/events/`)).body, [event]);

  const status = async () => (await ask(`/issues/${first}/`)).body.status;
  const resolving = { status: 'resolvedInNextRelease' };
  for (const by of ['reads', 'pulls'] as const)
    assert.equal((await ask(`/issues/${first}/`, by, resolving)).status, 403, by);
  const bad = await ask(`/issues/${first}/`, 'develops', { status: 'gone' });
  assert.deepEqual([bad.status, bad.body], [400, { detail: 'status is invalid' }]);
  assert.equal(await status(), 'unresolved');
  const resolved = await ask(`/issues/${first}/`, 'develops', resolving);
  assert.deepEqual([resolved.status, resolved.body], [200, { status: 'resolved' }]);
  assert.equal(await status(), 'resolved');
  assert.equal((await ask(issues)).body.length, 1);
  assert.equal((await ask(`${issues}?query=`)).body.length, 2);

  const refusals: [path: string, by: keyof typeof tokens | null, status: number, detail: string][] = [
    ['/projects/', null, 401, 'Unauthorized'],
    [issues, 'plans', 403, 'Forbidden'],
    [issues, 'outside', 404, 'Project Not Found'],
    [`/issues/${first}/`, 'outside', 404, 'Issue Not Found'],
    [`/issues/${first}/`, 'plans', 403, 'Forbidden'],
    ['/issues/0/', 'reads', 404, 'Issue Not Found'],
    ['/issues/x/', 'reads', 404, 'Issue Not Found'],
    [`/projects/other/${id}/issues/`, 'reads', 404, 'Project Not Found'],
    [`/issues/${first}/events/${'9'.repeat(32)}/`, 'reads', 404, 'Event Not Found'],
    [`${issues}?limit=0`, 'reads', 400, 'limit is invalid'],
  ];
  for (const [at, by, code, detail] of refusals) {
    const refused = await ask(at, by);
    assert.deepEqual([refused.status, refused.body], [code, { detail }], at);
  }
});
