import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { sendRaw } from '../../test/support/raw_request.ts';
import { everythingFrom, headOf, rawSocket } from '../../test/support/raw_socket.ts';
import { untilRead } from '../../test/support/turns.ts';
import { world } from '../../test/support/world.ts';
import { workFor } from '../foundation/clients.ts';
import { toPlainHtml } from '../markdown/index.ts';
import { Pages, parseLong } from './long_body.ts';

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const multipart = { 'content-type': 'multipart/form-data; boundary=e' };
const filePart =
  '--e\r\nContent-Disposition: form-data; name="file"; filename="x.png"\r\nContent-Type: image/png\r\n\r\n';
const fieldPart = '--e\r\nContent-Disposition: form-data; name="title"\r\n\r\n';

/** The beginnings of bodies of every form, each cut off at another stage. */
const beginnings: (readonly [Record<string, string>, string])[] = [
  ...['{', '{"title":', '{"title":"', `{"title":"${'x'.repeat(200_000)}`].map((body) => [json, body] as const),
  ...['', 'title', 'title=', `title=${'x'.repeat(200_000)}`].map((body) => [form, body] as const),
  ...['', '--e', fieldPart, `${fieldPart}x`, filePart.slice(0, 40), filePart, `${filePart}${'x'.repeat(200_000)}`].map(
    (body) => [multipart, body] as const,
  ),
  [{}, 'anything'] as const,
];

test('a body that breaks off, of any form and at any stage, ends no process', async () => {
  const here = await world();
  const issues = `/api/v4/projects/${here.project.id}/issues`;
  const added = await here.as('owner').post(`/projects/${here.project.id}/issues`, { title: 'one' });
  const paths = [
    issues,
    `${issues}/${added.body.iid}/metric_images`,
    '/api/v4/nowhere',
    '/nowhere',
    '/-/invitations/x/accept',
  ];
  for (const path of paths)
    for (const [type, body] of beginnings)
      for (const token of [{}, { 'private-token': here.people.owner.token }] as Record<string, string>[]) {
        const socket = await rawSocket(here.url);
        socket.write(headOf('POST', path, { ...type, ...token, 'content-length': 4_000_000 }) + body);
        await untilRead();
        socket.destroy();
        await once(socket, 'close');
      }
  assert.equal((await here.as('guest').get('/user')).status, 200);
});

test('strangers are answered before their body is read, and may send 64 KiB', async () => {
  const { url, project, people } = await world();
  const path = `/projects/${project.id}/issues`;
  const body = (size_bytes: number) => JSON.stringify({ title: 'x', description: 'y'.repeat(size_bytes) });
  const refused = await sendRaw(url, { method: 'POST', path, headers: json, body: body(100_000) });
  assert.equal(refused.status, 401);
  const inBody = (size_bytes: number) =>
    JSON.stringify({ private_token: people.owner.token, title: 'x', description: 'y'.repeat(size_bytes) });
  assert.equal((await sendRaw(url, { method: 'POST', path, headers: json, body: inBody(60_000) })).status, 201);
  assert.equal((await sendRaw(url, { method: 'POST', path, headers: json, body: inBody(70_000) })).status, 401);

  // What is announced is refused before it comes, and the connection with it.
  const socket = await rawSocket(url);
  socket.write(
    headOf('POST', `/api/v4${path}`, { ...json, 'private-token': people.owner.token, 'content-length': 2 ** 40 }),
  );
  assert.match(await everythingFrom(socket), /^HTTP\/1\.1 413 /);
});

test('bodies are larger than 1 MiB only where a parameter may be', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}`;
  const issue = await as('owner').post(`${url}/issues`, { title: 'x', description: 'é'.repeat(1_000_000) });
  assert.equal(issue.status, 201);
  assert.equal(
    (await as('owner').post(`${url}/issues`, { title: 'x', description: 'é'.repeat(4_000_000) })).status,
    413,
  );
  const label = { name: 'a', color: '#ffffff', description: 'x'.repeat(1_100_000) };
  const refused = await as('owner').post(`${url}/labels`, label);
  assert.deepEqual([refused.status, refused.body], [413, { message: '413 Request Entity Too Large' }]);
  const content = Buffer.alloc(3_000_000, 'x').toString('base64');
  const file = { branch: 'main', commit_message: 'large', content, encoding: 'base64' };
  assert.equal((await as('owner').post(`${url}/repository/files/large`, file)).status, 201);
  const read = await as('owner').get(`${url}/repository/files/large`, { ref: 'main' });
  assert.equal(read.body.size, 3_000_000);
});

test('a text that takes long to copy is handed over as bytes, and only the content of files may be as long', async () => {
  const content = `é\ud83d\ude00"${'x'.repeat(2_000_000)}`;
  const body = new Pages();
  const list = ['short', content];
  body.add(Buffer.from(JSON.stringify({ list })));
  const bytes = new Uint8Array(Buffer.from(content));
  assert.deepEqual(await parseLong(body, 'json'), { value: { list: ['short', bytes] } });

  const { as, project } = await world();
  const commits = `/projects/${project.id}/repository/commits`;
  const create = { action: 'create', file_path: 'a', content };
  const commit = { branch: 'main', commit_message: 'one', actions: [create] };
  const refusals = [
    [
      { ...commit, commit_message: 'x'.repeat(3_500_000) },
      'commit_message is expected to have length less than or equal to 100000',
    ],
    [{ ...commit, commit_message: 'x'.repeat(7_000_000) }, 'commit_message is too long'],
    [{ ...commit, force: 'x'.repeat(3_500_000) }, 'force is invalid'],
    [{ ...commit, actions: 'x'.repeat(7_000_000) }, 'actions is too long'],
  ] as const;
  for (const [input, text] of refusals) {
    const refused = await as('owner').post(commits, input);
    assert.deepEqual([refused.status, refused.body.message], [400, `400 Bad request - ${text}`]);
  }
  const base64 = {
    action: 'create',
    file_path: 'b',
    content: Buffer.from(content).toString('base64'),
    encoding: 'base64',
  };
  assert.equal((await as('owner').post(commits, { ...commit, actions: [create, base64] })).status, 201);
  const raw = new URLSearchParams({ branch: 'main', commit_message: 'form', content }).toString();
  assert.equal(
    (await as('owner').post(`/projects/${project.id}/repository/files/c`, undefined, { headers: form, raw })).status,
    201,
  );
  for (const name of ['a', 'b', 'c']) {
    const file = await as('owner').get(`/projects/${project.id}/repository/files/${name}`, { ref: 'main' });
    assert.equal(Buffer.from(file.body.content, 'base64').toString(), content, name);
  }
});

test('what a body may hold is counted before it is parsed', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/issues`;
  const many = `{"title":"x","a":[${'0,'.repeat(100_000)}0]}`;
  const deep = (levels: number) => `{"title":"x","a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const names = (count: number) =>
    `{"title":"x","a":[${Array.from({ length: count }, (_, index) => `{"k${index}":0,"same":0}`)}]}`;
  const refusals = [
    [json, many, 'the body has more than 100000 keys and elements'],
    [
      json,
      `{"title":"x","description":"${'y'.repeat(1_100_000)}","a":[${'0,'.repeat(100_000)}0]}`,
      'the body has more than 100000 keys and elements',
    ],
    [
      json,
      JSON.stringify(Object.fromEntries(Array.from({ length: 4097 }, (_, index) => [`k${index}`, 0]))),
      'more than 4096 parameters were sent',
    ],
    [json, names(1025), 'the body has more than 1024 different keys in its parameters'],
    [json, deep(64), 'the body is nested more than 64 levels deep'],
    [json, '['.repeat(1_000_000), 'the body is nested more than 64 levels deep'],
    [form, 'a&'.repeat(500_000), 'more than 4096 parameters were sent'],
    [form, '&'.repeat(1_000_000), 'more than 4096 parameters were sent'],
  ] as const;
  for (const [headers, raw, text] of refusals) {
    const refused = await as('owner').post(url, undefined, { headers, raw });
    assert.deepEqual([refused.status, refused.body], [400, { message: text, error: text }]);
  }
  const list = `{"title":"x","a":[${'"b",'.repeat(20_000)}"c"]}`;
  for (const raw of [deep(63), names(1023), list])
    assert.equal((await as('owner').post(url, undefined, { headers: json, raw })).status, 201);
  // What stands in a string counts as nothing.
  const title = await as('owner').post(url, undefined, {
    headers: json,
    raw: JSON.stringify({ title: '[{,"\\', description: '[,"'.repeat(300_000) }),
  });
  assert.equal(title.status, 201);
});

test('a large JSON text that is none is refused like a small one', async () => {
  const { as, project } = await world();
  for (const raw of [
    `{"title":"${'x'.repeat(3_500_000)}`,
    `["${'x'.repeat(3_500_000)}"]`,
    `{"__proto__":"${'x'.repeat(3_500_000)}"}`,
  ]) {
    const refused = await as('owner').post(`/projects/${project.id}/issues`, undefined, { headers: json, raw });
    assert.deepEqual([refused.status, refused.body.message], [400, 'message body does not match declared format']);
  }
});

test('a large form is read like a small one', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/issues`;
  const description = 'é &'.repeat(300_000);
  const raw = new URLSearchParams({ title: 'form', description, labels: 'a,b' }).toString();
  const added = await as('owner').post(url, undefined, { headers: form, raw });
  assert.deepEqual([added.status, added.body.description, added.body.labels], [201, description, ['a', 'b']]);
  const refused = await as('owner').post(url, undefined, { headers: form, raw: `title=%${'x'.repeat(2_000_000)}` });
  assert.match(refused.body.message, /^'%x+' is not a valid percent-encoding$/);
});

test('a body without a type is JSON, an unsupported type is refused, and an unknown path comes before both', async () => {
  const { url, project, people } = await world();
  const path = `/projects/${project.id}/issues`;
  const token = { 'private-token': people.owner.token };
  const body = '{"title":"untyped"}';
  assert.equal((await sendRaw(url, { method: 'POST', path, headers: token, body })).status, 201);
  const typed = { ...token, 'content-type': 'text/plain' };
  const refused = await sendRaw(url, { method: 'POST', path, headers: typed, body });
  const text = "The provided content-type 'text/plain' is not supported.";
  assert.deepEqual([refused.status, JSON.parse(refused.text)], [415, { message: text, error: text }]);
  assert.equal((await sendRaw(url, { method: 'POST', path: '/nowhere', headers: typed, body })).status, 404);
});

test('long texts and lists are refused by name, and nothing is added', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}`;
  const file = { branch: 'main', commit_message: 'one', content: 'one' };
  assert.equal((await as('owner').post(`${url}/repository/files/one`, file)).status, 201);
  const labels = Array.from({ length: 1001 }, (_, number) => `label ${number}`);
  const actions = labels.map((name) => ({ action: 'create', file_path: name, content: '' }));
  const refusals = [
    [
      'post',
      '/markdown',
      { text: 'x'.repeat(1_048_577) },
      'text is expected to have length less than or equal to 1048576',
    ],
    ['post', `${url}/issues`, { title: 'x', labels: labels.join(',') }, 'labels has more than 1000 elements'],
    [
      'post',
      `${url}/issues`,
      { title: 'x', assignee_ids: labels.map((_, id) => id) },
      'assignee_ids has more than 1000 elements',
    ],
    [
      'post',
      `${url}/repository/files/two`,
      { ...file, commit_message: 'x'.repeat(100_001) },
      'commit_message is expected to have length less than or equal to 100000',
    ],
    [
      'post',
      `${url}/repository/files/two`,
      { ...file, author_name: 'x'.repeat(256) },
      'author_name is expected to have length less than or equal to 255',
    ],
    [
      'post',
      `${url}/repository/tags`,
      { tag_name: 'v1', ref: 'main', message: 'x'.repeat(100_001) },
      'message is expected to have length less than or equal to 100000',
    ],
    [
      'get',
      `${url}/repository/commits`,
      { author: 'x'.repeat(40_000) },
      'author is expected to have length less than or equal to 255',
    ],
    [
      'post',
      `${url}/repository/commits`,
      { branch: 'main', commit_message: 'x', actions: Array(5).fill(actions).flat() },
      '400 Bad request - actions has more than 5000 elements',
    ],
  ] as const;
  for (const [method, path, input, text] of refusals) {
    const refused = await as('owner')[method](path, input);
    assert.deepEqual([refused.status, refused.body.message], [400, text]);
  }
  assert.deepEqual((await as('owner').get(`${url}/issues`)).body, []);
  assert.equal((await as('owner').get(`${url}/repository/commits`)).body.length, 1);
});

test('of long bodies and texts, those of one client take turns with those of others', async () => {
  const parse = async () => {
    const body = new Pages();
    body.add(Buffer.from(JSON.stringify({ text: 'x'.repeat(200_000) })));
    await parseLong(body, 'json');
  };
  const render = () => toPlainHtml('<'.repeat(200_000));
  for (const work of [parse, render]) {
    const order: string[] = [];
    const doFor = (source: string) => workFor({ source }, () => work().then(() => order.push(source)));
    // All threads have started when the pieces come: a client may have to wait until there is a second one.
    await Promise.all(Array.from({ length: 12 }, (_, index) => doFor(`c${index}`)));
    // Its piece begins second, but on a busy machine its thread may be the slower one; without turns it would end last each time.
    const places: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      order.length = 0;
      await Promise.all(['a', 'a', 'a', 'a', 'b'].map(doFor));
      places.push(order.indexOf('b'));
    }
    assert.ok(Math.min(...places) <= 2, places.join(' '));
  }
});
