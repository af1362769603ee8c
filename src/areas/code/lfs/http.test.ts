import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { ask, basic, batch, objectFor, pointerFor, put, upload } from '../../../../test/support/lfs.ts';
import { fileUrl, filledWorld, onMain } from '../../../../test/support/repository.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { createToken } from '../../people/personal_access_tokens/index.ts';
import { signed } from './credential_actions.ts';

const bytes = () => Buffer.from(randomBytes(50_000));

const rowsOf = ({ db }: World, oid: string) =>
  db.selectFrom('lfs_objects').select('id').where('oid', '=', oid).execute();
const download = (here: World, who: Parameters<typeof ask>[1], oid: string, headers = {}) =>
  ask(here, who, `gitlab-lfs/objects/${oid}`, { headers });

async function tokenWith({ db, people }: World, scopes: string[]) {
  const { value } = await createToken(db, { user_id: people.developer.id, name: 'lfs', scopes, expires_at: null });
  return { token: value };
}

test('an object is uploaded, verified and downloaded, and an interrupted download resumes', async () => {
  const here = await world();
  const content = bytes();
  const object = objectFor(content);
  const asked = await batch(here, 'developer', 'upload', [object]);
  assert.equal(asked.status, 200);
  assert.equal(asked.headers.get('content-type'), 'application/vnd.git-lfs+json');
  assert.equal(asked.body.transfer, 'basic');
  const [{ actions, ...known }] = asked.body.objects;
  assert.deepEqual(known, { ...object, authenticated: true });
  assert.equal(
    actions.upload.href,
    `http://coppice.test/${here.project.full_path}.git/gitlab-lfs/objects/${object.oid}/${object.size}`,
  );
  assert.deepEqual(Object.keys(actions.upload.header), ['Authorization', 'Content-Type', 'Transfer-Encoding']);
  assert.equal(actions.upload.expires_in, 1800);

  const verify = () =>
    ask(here, 'anonymous', actions.verify.href, {
      json: object,
      headers: { authorization: actions.verify.header.Authorization },
    });
  assert.equal((await verify()).status, 404);
  assert.equal((await put(here, actions.upload.href, actions.upload.header.Authorization, content)).status, 200);
  assert.equal((await verify()).status, 200);

  const again = await batch(here, 'developer', 'upload', [object]);
  assert.deepEqual(again.body.objects, [object]);

  const offered = await batch(here, 'reporter', 'download', [object]);
  const { href, header } = offered.body.objects[0].actions.download;
  const authorization = { authorization: header.Authorization };
  const whole = await fetch(href.replace('http://coppice.test', here.url), { headers: authorization });
  assert.equal(whole.status, 200);
  assert.equal(whole.headers.get('content-length'), String(object.size));
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), content);
  const rest = await fetch(href.replace('http://coppice.test', here.url), {
    headers: { ...authorization, range: 'bytes=49990-' },
  });
  assert.equal(rest.status, 206);
  assert.equal(rest.headers.get('content-range'), 'bytes 49990-49999/50000');
  assert.deepEqual(Buffer.from(await rest.arrayBuffer()), content.subarray(49_990));
  assert.equal((await download(here, 'reporter', object.oid, { range: 'bytes=50000-' })).status, 416);
});

test('a batch download reports each missing object', async () => {
  const here = await world();
  const stored = Buffer.from('stored');
  await upload(here, 'developer', stored);
  const answer = await batch(here, 'reporter', 'download', [
    objectFor(stored),
    objectFor('other'),
    { oid: 'xyz', size: -1 },
  ]);
  assert.equal(answer.status, 200);
  const [first, second, third] = answer.body.objects;
  assert.deepEqual(Object.keys(first.actions), ['download']);
  assert.deepEqual(second, {
    ...objectFor('other'),
    error: { code: 404, message: "Object does not exist on the server or you don't have permissions to access it" },
  });
  assert.equal(third.error.code, 422);
});

test('an invalid batch is refused with an LFS error', async () => {
  const here = await world();
  const send = (json: unknown) => ask(here, 'developer', 'info/lfs/objects/batch', { json });
  const object = objectFor('x');
  for (const [json, status] of [
    [{ operation: 'download', objects: [] }, 404],
    [{ operation: 'download' }, 404],
    [{ operation: 'steal', objects: [object] }, 422],
    [{ operation: 'download', objects: ['x'] }, 422],
    [{ operation: 'download', hash_algo: 'md5', objects: [object] }, 409],
    [{ operation: 'download', objects: Array(1001).fill(object) }, 413],
    [[1], 422],
  ] as const) {
    const { status: got, headers, body } = await send(json);
    assert.equal(got, status, JSON.stringify(json).slice(0, 80));
    assert.equal(headers.get('content-type'), 'application/vnd.git-lfs+json');
    assert.deepEqual(Object.keys(body), ['message', 'documentation_url', 'request_id']);
  }
  const noJson = await ask(here, 'developer', 'info/lfs/objects/batch', { method: 'POST', body: '{' });
  assert.equal(noJson.status, 400);
  const tooLong = await ask(here, 'developer', 'info/lfs/objects/batch', {
    method: 'POST',
    body: ' '.repeat(1_100_000),
  });
  assert.equal(tooLong.status, 413);
});

test('the legacy LFS API answers that it is gone', async () => {
  const here = await world();
  for (const [method, at] of [
    ['GET', 'info/lfs/objects'],
    ['POST', 'info/lfs/objects'],
    ['GET', `info/lfs/objects/${'a'.repeat(64)}`],
  ] as const) {
    const answer = await ask(here, 'anonymous', at, { method });
    assert.equal(answer.status, 501);
    assert.match(answer.body.message, /^Server supports batch API only/);
  }
});

/** Names of all files of the store of blobs. */
async function storedFiles({ services }: World): Promise<string[]> {
  const folder = path.join(path.dirname(services.storages.default!), 'blobs');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

test('an upload with a wrong length or digest, or an aborted one, stores nothing', async () => {
  const here = await world();
  const content = bytes();
  const object = objectFor(content);
  await upload(here, 'developer', Buffer.from('so that there is a store'));
  const before = await storedFiles(here);
  const { body } = await batch(here, 'developer', 'upload', [object]);
  const { href, header } = body.objects[0].actions.upload;
  const chunked = (...chunks: Buffer[]) => ReadableStream.from(chunks);

  const others = Buffer.from(content).fill(0, 0, 1);
  const wrongDigest = await put(here, href, header.Authorization, others);
  assert.equal(wrongDigest.status, 400);
  assert.equal(wrongDigest.body.message, 'SHA256 or size mismatch');
  assert.equal((await put(here, href, header.Authorization, content.subarray(1))).status, 422);
  assert.equal((await put(here, href, header.Authorization, chunked(content.subarray(1)))).status, 422);
  assert.equal((await put(here, href, header.Authorization, chunked(content, content))).status, 422);
  assert.equal((await put(here, href.replace(/\d+$/, 'x'), header.Authorization, content)).status, 400);

  const { hostname, port, pathname } = new URL(href.replace('http://coppice.test', here.url));
  const headers = { authorization: header.Authorization, 'content-length': String(object.size) };
  await new Promise<void>((resolve) => {
    const request = http.request({ hostname, port, path: pathname, method: 'PUT', headers });
    request.on('error', () => resolve());
    request.write(content.subarray(0, 30_000), () => request.destroy());
    request.on('close', () => resolve());
  });
  // The server hears of it in its own time; a whole upload afterwards is the proof that it is over.
  assert.equal((await put(here, href, header.Authorization, chunked(content))).status, 200);
  for (let tries = 0; tries < 200 && (await storedFiles(here)).length > before.length + 1; tries++)
    await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual((await storedFiles(here)).toSorted(), [...before, object.oid].toSorted());
});

test('an object of another project is not found, and sharing it requires uploading its bytes', async () => {
  const here = await world();
  const there = await world();
  const content = bytes();
  const { oid, size } = objectFor(content);
  await upload(here, 'developer', content);

  const stranger = await batch(there, 'reporter', 'download', [{ oid, size }]);
  assert.equal(stranger.body.objects[0].error.code, 404);
  assert.equal((await download(there, 'reporter', oid)).status, 404);
  const { body } = await batch(there, 'developer', 'upload', [{ oid, size }]);
  const { href, header } = body.objects[0].actions.upload;
  const guessed = await put(there, href, header.Authorization, Buffer.alloc(size));
  assert.equal(guessed.status, 400);
  assert.equal((await download(there, 'reporter', oid)).status, 404);

  assert.equal((await put(there, href, header.Authorization, content)).status, 200);
  assert.equal((await download(there, 'reporter', oid)).status, 200);
  assert.equal((await rowsOf(here, oid)).length, 1);
  assert.equal((await storedFiles(here)).filter((name) => name === oid).length, 1);
});

test('downloads and uploads need the same rights as fetches and pushes', async () => {
  const here = await world();
  const object = objectFor('x');
  for (const [persona, download, upload] of [
    ['anonymous', 401, 401],
    ['outsider', 404, 404],
    ['guest', 403, 403],
    ['reporter', 200, 403],
    ['developer', 200, 200],
  ] as const) {
    assert.equal((await batch(here, persona, 'download', [object])).status, download, `${persona} fetches`);
    assert.equal((await batch(here, persona, 'upload', [object])).status, upload, `${persona} stores`);
    const sent = await ask(here, persona, `gitlab-lfs/objects/${object.oid}/1`, { method: 'PUT', body: 'x' });
    assert.equal(sent.status, upload, `${persona} sends`);
  }
  const unknown = await batch(here, 'anonymous', 'download', [object]);
  assert.match(unknown.headers.get('www-authenticate')!, /^Basic /);
  assert.match(unknown.body.message, /^HTTP Basic: Access denied\./);
  assert.equal((await batch(here, { token: 'glpat-wrong' }, 'download', [object])).status, 401);
  const refused = await batch(here, 'reporter', 'upload', [object]);
  assert.equal(refused.body.message, 'Access forbidden. Check your access level.');
});

test('a token needs the same scopes as for git', async () => {
  const here = await world();
  for (const [scope, download, upload] of [
    ['read_repository', 200, 403],
    ['write_repository', 200, 200],
    ['read_api', 403, 403],
  ] as const) {
    const token = await tokenWith(here, [scope]);
    assert.equal((await batch(here, token, 'download', [objectFor('x')])).status, download, `${scope} fetches`);
    assert.equal((await batch(here, token, 'upload', [objectFor('x')])).status, upload, `${scope} stores`);
  }
});

test('anyone can download the objects of a public project without credentials', async () => {
  const here = await world();
  await upload(here, 'developer', Buffer.from('open'));
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const { body } = await batch(here, 'anonymous', 'download', [objectFor('open')]);
  assert.deepEqual(body.objects[0].actions.download.header, {});
  assert.equal(body.objects[0].authenticated, undefined);
  assert.equal((await ask(here, 'anonymous', body.objects[0].actions.download.href)).text, 'open');
  assert.equal((await batch(here, 'anonymous', 'upload', [objectFor('more')])).status, 401);
});

test('projects and groups without LFS refuse it, and archived projects refuse uploads', async () => {
  const here = await world();
  const { as, project, group, db } = here;
  const content = Buffer.from('kept');
  await upload(here, 'developer', content);
  const both = async () =>
    Promise.all(
      (['download', 'upload'] as const).map(
        async (operation) => (await batch(here, 'developer', operation, [objectFor(content)])).status,
      ),
    );
  assert.equal((await as('owner').put(`/projects/${project.id}`, { lfs_enabled: false })).status, 200);
  assert.deepEqual(await both(), [404, 404]);
  await as('owner').put(`/projects/${project.id}`, { lfs_enabled: true });
  assert.deepEqual(await both(), [200, 200]);
  assert.equal((await as('owner').put(`/groups/${group.id}`, { lfs_enabled: false })).status, 200);
  assert.deepEqual(await both(), [404, 404]);
  assert.equal((await download(here, 'developer', objectFor(content).oid)).status, 404);
  await as('owner').put(`/groups/${group.id}`, { lfs_enabled: true });
  await db.updateTable('projects').set({ archived: true }).where('id', '=', project.id).execute();
  assert.deepEqual(await both(), [200, 403]);
  const sent = await ask(here, 'developer', `gitlab-lfs/objects/${objectFor('x').oid}/1`, { method: 'PUT', body: 'x' });
  assert.equal(sent.status, 403);
});

test('the credential of a batch is limited to its project, operation and lifetime, and ends with its token', async () => {
  const here = await world();
  const there = await world();
  await upload(here, 'developer', Buffer.from('x'));
  const { oid } = objectFor('x');
  const { token } = await tokenWith(here, ['api']);
  const { id: token_id } = await here.db
    .selectFrom('personal_access_tokens')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const issue = (changes = {}) =>
    signed(here.db, {
      from: { token_id },
      project_id: here.project.id,
      operation: 'download',
      expires_at_ms: Date.now() + 60_000,
      ...changes,
    });
  const get = async (password: string) => (await download(here, 'anonymous', oid, basic(password))).status;

  const good = await issue();
  assert.equal(await get(good), 200);
  assert.equal(await get(await issue({ expires_at_ms: Date.now() - 1 })), 401);
  assert.equal(await get(await issue({ operation: 'upload' })), 401);
  assert.equal(await get(await issue({ project_id: there.project.id })), 401);
  const changed = good.replace(/\.(\d+)\.([\w-]+)$/, (_, expires, signature) => `.${Number(expires) + 1}.${signature}`);
  assert.notEqual(changed, good);
  assert.equal(await get(changed), 401);

  // It opens nothing but transfers.
  assert.equal((await batch(here, { token: good }, 'download', [objectFor('x')])).status, 401);
  const clone = await fetch(`${here.url}/${here.project.full_path}.git/info/refs?service=git-upload-pack`, {
    headers: basic(good),
  });
  assert.equal(clone.status, 401);
  assert.equal((await here.as('anonymous').get('/user', {}, { headers: { 'private-token': good } })).status, 401);

  assert.equal((await batch(here, { token }, 'download', [objectFor('x')])).status, 200);
  await here.db.updateTable('personal_access_tokens').set({ revoked: true }).where('id', '=', token_id).execute();
  assert.equal(await get(good), 401);
});

test('the raw content of a pointer is the object, if the project has it', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const content = bytes();
  const url = `${fileUrl(project, 'films/movie.bin')}/raw`;
  const pointer = pointerFor(objectFor(content));
  await as('maintainer').post(fileUrl(project, 'films/movie.bin'), { ...onMain, content: pointer });
  assert.equal((await as('reporter').get(url, { lfs: true })).status, 404);
  await upload(here, 'developer', content);

  const response = await fetch(`${here.url}/api/v4${url}?lfs=true`, {
    headers: { 'private-token': here.people.reporter.token },
  });
  assert.equal(response.headers.get('content-type'), 'application/octet-stream');
  assert.equal(
    response.headers.get('content-disposition'),
    `attachment; filename="movie.bin"; filename*=UTF-8''movie.bin`,
  );
  const digest = createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex');
  assert.equal(digest, objectFor(content).oid);
  assert.equal((await as('reporter').get(url)).body, pointer);
  const heads = [await as('reporter').head(`${url}?lfs=true`), await as('reporter').head(url)];
  assert.deepEqual(
    heads.map(({ headers }) => headers.get('content-length')),
    [String(content.length), String(pointer.length)],
  );
  await as('owner').put(`/projects/${project.id}`, { lfs_enabled: false });
  assert.equal((await as('reporter').get(url, { lfs: true })).body, pointer);
});
