import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { sql } from 'kysely';
import { world } from '../../test/support/world.ts';

const nights = { freeze_start: '0 23 * * *', freeze_end: '0 7 * * *' };

/** Sends a path as it is: fetch() would normalise it. */
function rawGet(url: string, path: string): Promise<{ status: number; body: string; type: string | undefined }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = http.get({ hostname, port, path }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          body: Buffer.concat(chunks).toString(),
          type: response.headers['content-type'],
        }),
      );
    });
    request.on('error', reject);
  });
}

test('the same parameters are read from JSON, a form, multipart and the query', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const multipart = new FormData();
  for (const [name, value] of Object.entries(nights)) multipart.append(name, value);
  multipart.append('avatar', new Blob(['']), 'empty');
  const form = new URLSearchParams(nights).toString();
  const forms = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  for (const [params, ask] of [
    [nights, {}],
    [undefined, { ...forms, raw: form }],
    [undefined, { raw: multipart }],
  ] as const) {
    const added = await as('maintainer').post(url, params, ask);
    assert.equal(added.status, 201, JSON.stringify(added.body));
    assert.equal(added.body.freeze_start, nights.freeze_start);
  }
  const inQuery = await as('maintainer').post(`${url}?${form}`, {});
  assert.equal(inQuery.status, 201);
});

test('the path wins over the body, and the body over the query', async () => {
  const { as, project } = await world();
  const other = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const added = await as('maintainer').post(`${url}?freeze_end=1+1+*+*+*`, { ...nights, id: other.project.id });
  assert.equal(added.body.freeze_end, nights.freeze_end);
  assert.equal((await as('maintainer').get(url)).body.length, 1);
});

test('bodies that cannot be read are refused with a message, and nothing is added', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const json = { 'content-type': 'application/json' };
  const mismatch = 'message body does not match declared format';
  for (const raw of ['{', '[1]', '"x"', '5', '{"__proto__":{"a":1}}']) {
    const refused = await as('maintainer').post(url, undefined, { headers: json, raw });
    assert.equal(refused.status, 400, raw);
    assert.deepEqual(refused.body, { message: mismatch, error: mismatch });
  }
  const xml = await as('maintainer').post(url, undefined, { headers: { 'content-type': 'text/xml' }, raw: '<a/>' });
  assert.equal(xml.status, 415);
  assert.equal(xml.body.message, "The provided content-type 'text/xml' is not supported.");
  const large = await as('maintainer').post(url, undefined, {
    headers: json,
    raw: `{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`,
  });
  assert.equal(large.status, 413);
  assert.deepEqual(large.body, { message: '413 Request Entity Too Large' });
  const boundary = await as('maintainer').post(url, undefined, {
    headers: { 'content-type': 'multipart/form-data' },
    raw: 'x',
  });
  assert.equal(boundary.status, 400);
  assert.deepEqual((await as('maintainer').get(url)).body, []);
});

test('an empty body with a JSON content type counts as no body, and so does null', async () => {
  const { as, project } = await world();
  const json = { headers: { 'content-type': 'application/json' } };
  for (const raw of ['', 'null']) {
    const { status, body } = await as('maintainer').post(`/projects/${project.id}/freeze_periods`, undefined, {
      ...json,
      raw,
    });
    assert.equal(status, 400);
    assert.equal(body.message, 'freeze_start is missing, freeze_end is missing');
  }
  const { id } = (await as('maintainer').post(`/projects/${project.id}/freeze_periods`, nights)).body;
  assert.equal(
    (await as('maintainer').delete(`/projects/${project.id}/freeze_periods/${id}`, undefined, json)).status,
    204,
  );
});

test('unknown paths are refused with JSON', async () => {
  const { as, project, url } = await world();
  const unknown = await as('admin').get('/no/such/thing');
  assert.equal(unknown.status, 404);
  assert.deepEqual(unknown.body, { message: '404 Not Found', error: '404 Not Found' });

  const wrongMethod = await as('admin').patch(`/projects/${project.id}/freeze_periods`, {});
  assert.equal(wrongMethod.status, 405);
  assert.equal(wrongMethod.headers.get('allow'), 'GET, POST, HEAD');
  assert.deepEqual(wrongMethod.body, { message: '405 Not Allowed', error: '405 Not Allowed' });

  const old = await rawGet(url, '/api/v3/projects');
  assert.equal(old.status, 410);
  assert.match(old.body, /API V3 is no longer supported/);

  for (const path of [
    '/api/v4/projects/%zz',
    '/api/v4/projects/%',
    '/api/v4/projects/%E0%A4%A/freeze_periods',
    '/api/v4/version?a=%zz',
  ]) {
    const bad = await rawGet(url, path);
    assert.equal(bad.status, 400, path);
    assert.equal(bad.type, 'application/json');
    assert.equal(typeof JSON.parse(bad.body).message, 'string');
  }

  const headersOf = ({ headers }: Response) =>
    ['content-type', 'content-security-policy', 'referrer-policy', 'x-content-type-options', 'x-frame-options'].map(
      (name) => headers.get(name),
    );
  const page = (path: string) => fetch(`${url}${path}`, { headers: { accept: 'text/html' } });
  const unreadable = await page('/%ff');
  assert.equal(unreadable.status, 400);
  const signIn = await page('/users/sign_in');
  for (const other of [unreadable, await page('/-/invites/none'), await page('/-/profile/emails/confirmation')])
    assert.deepEqual(headersOf(other), headersOf(signIn), other.url);
  for (const shown of [unreadable, signIn]) assert.match(await shown.text(), /<nav aria-label="Main">/);
});

test('projects are found by id and by encoded path, with %2E for dots and a trailing slash', async () => {
  const { as, people, project, url } = await world();
  const ask = (path: string) => rawGet(url, `/api/v4/projects/${path}?private_token=${people.reporter.token}`);
  const path = encodeURIComponent(project.full_path);
  for (const id of [String(project.id), path, path.toUpperCase().replace('%2f', '%2F'), path.replaceAll('-', '%2D')]) {
    assert.equal((await ask(`${id}/freeze_periods`)).status, 200, id);
    assert.equal((await ask(`${id}/freeze_periods/`)).status, 200, id);
  }
  for (const id of [
    '..',
    '%2E%2E',
    project.path,
    '0',
    '-1',
    '99999999999999999999',
    path.replace('%2F', '%252F'),
    '%00',
  ])
    assert.equal((await ask(`${id}/freeze_periods`)).status, 404, id);
  assert.equal((await as('reporter').get(`/projects/${path}/freeze_periods`)).status, 200);
});

test('every reply has its request id, and JSON is application/json without a charset', async () => {
  const { as } = await world();
  const answer = await as('guest').get('/version', {}, { headers: { 'x-request-id': 'abc-12345' } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.equal(answer.headers.get('x-request-id'), 'abc-12345');
  assert.match(answer.body.version, /^\d+\.\d+\.\d+-ee$/);
  const hostile = await as('guest').get('/version', {}, { headers: { 'x-request-id': 'a b"c' } });
  assert.match(hostile.headers.get('x-request-id')!, /^[0-9a-f-]{36}$/);
});

test('GET routes answer HEAD, and 304 when nothing has changed', async () => {
  const { as, project } = await world();
  const path = `/projects/${project.id}/freeze_periods`;
  const whole = await as('reporter').get(path);
  const tag = whole.headers.get('etag')!;
  const headed = await as('reporter').head(path);
  assert.equal(headed.status, 200);
  assert.equal(headed.headers.get('x-total'), '0');
  assert.equal(headed.body, null);
  const same = await as('reporter').get(path, {}, { headers: { 'if-none-match': tag } });
  assert.equal(same.status, 304);
  assert.equal(same.body, null);
  await as('maintainer').post(path, nights);
  assert.equal((await as('reporter').get(path, {}, { headers: { 'if-none-match': tag } })).status, 200);
});

test('invalid page parameters are adjusted or refused as in the reference, and links lead on', async () => {
  const { as, project, url } = await world();
  const path = `/projects/${project.id}/freeze_periods`;
  for (let hour = 0; hour < 3; hour++)
    await as('maintainer').post(path, { ...nights, freeze_start: `0 ${hour} * * *` });
  const page = (parameters: object) => as('reporter').get(path, { ...parameters });

  const large = await page({ per_page: 500 });
  assert.equal(large.headers.get('x-per-page'), '100');
  assert.match(large.headers.get('link')!, /per_page=500/);
  assert.equal((await page({ per_page: -1 })).headers.get('x-per-page'), '20');
  assert.equal((await page({ page: 0 })).headers.get('x-page'), '1');
  assert.equal((await page({ per_page: 0 })).body.message, 'per_page has a value not allowed');
  assert.equal((await page({ page: 'x', per_page: 'y' })).body.message, 'page is invalid, per_page is invalid');

  const beyond = await page({ page: 9, per_page: 2 });
  assert.deepEqual(beyond.body, []);
  assert.equal(beyond.headers.get('x-prev-page'), '');
  assert.equal(beyond.headers.get('x-total'), '3');
  assert.match(beyond.headers.get('link')!, /^<[^>]+>; rel="first", <[^>]+>; rel="last"$/);

  const first = await page({ per_page: 2 });
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)![1]!;
  assert.ok(next.startsWith(`${url}/api/v4${path}?`), next);
  const second = await as('reporter').get(next.slice(`${url}/api/v4`.length));
  assert.equal(second.body.length, 1);
  assert.equal(second.headers.get('x-next-page'), '');
});

test('links are omitted when they would make the headers too long', async () => {
  const { as } = await world();
  const { status, headers } = await as('reporter').get('/projects', { search: 'x'.repeat(8000) });
  assert.deepEqual([status, headers.get('link'), headers.get('x-page')], [200, null, '1']);
});

test('links never repeat the credential of the request', async () => {
  const { as, people, project } = await world();
  const path = `/projects/${project.id}/freeze_periods?private_token=${people.reporter.token}&per_page=1`;
  const { status, headers } = await as('anonymous').get(path);
  assert.equal(status, 200);
  assert.ok(!headers.get('link')!.includes(people.reporter.token));
});

test('other origins may call without credentials and read every header that the API sends', async () => {
  const { as, url, project } = await world();
  const ownHeaders =
    /^(x-(?!frame-options|content-type-options)|ratelimit-|link$|etag$|retry-after$|location$|content-disposition$)/;
  const file = { branch: 'main', commit_message: 'one', content: 'one' };
  assert.equal((await as('owner').post(`/projects/${project.id}/repository/files/one`, file)).status, 201);
  for (const path of [
    '/projects',
    `/projects/${project.id}/repository/files/one?ref=main`,
    `/projects/${project.id}/repository/files/one/raw`,
  ]) {
    const { status, headers } = await as('owner').get(path, {}, { headers: { origin: 'https://elsewhere.example' } });
    assert.equal(status, 200);
    const exposed = new Set(headers.get('access-control-expose-headers')!.toLowerCase().split(', '));
    const hidden = [...headers.keys()].filter((name) => ownHeaders.test(name) && !exposed.has(name));
    assert.deepEqual(hidden, []);
  }
  const { headers } = await as('guest').get('/version', {}, { headers: { origin: 'https://elsewhere.example' } });
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.equal(headers.get('access-control-allow-credentials'), null);
  const preflight = await fetch(`${url}/api/v4/version`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'private-token',
    },
  });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get('access-control-allow-methods')!, /PUT/);
});

test('the document that describes the API is served', async () => {
  const { as } = await world();
  const document = await as('anonymous').get('/openapi.json');
  assert.equal(document.body.openapi, '3.1.0');
  assert.ok(document.body.paths['/projects/{id}/freeze_periods'].post);
});

test('a list of more than 10,000 rows has no totals, and its links lead to the end', async () => {
  const { as, db } = await world();
  const listOf = async (count: number) => {
    const { id } = (await as('owner').post('/projects', { name: `${count} rows` })).body;
    await db
      .insertInto('freeze_periods')
      .columns(['project_id', 'freeze_start', 'freeze_end'])
      .expression(
        sql`select ${id}::bigint, ${nights.freeze_start}, ${nights.freeze_end} from generate_series(1, ${count}::int)` as never,
      )
      .execute();
    return `/projects/${id}/freeze_periods`;
  };
  const counted = await as('owner').get(await listOf(10_000), { per_page: 100 });
  assert.equal(counted.headers.get('x-total'), '10000');
  assert.equal(counted.headers.get('x-total-pages'), '100');

  const path = await listOf(10_001);
  const long = await as('owner').get(path, { per_page: 100 });
  assert.equal(long.headers.get('x-total'), null);
  assert.equal(long.headers.get('x-total-pages'), null);
  assert.doesNotMatch(long.headers.get('link')!, /rel="last"/);
  assert.match(long.headers.get('link')!, /rel="next"/);
  const end = await as('owner').get(path, { per_page: 100, page: 101 });
  assert.equal(end.body.length, 1);
  assert.equal(end.headers.get('x-next-page'), '');
  assert.equal(end.headers.get('x-prev-page'), '100');
});
