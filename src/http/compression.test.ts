import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { world } from '../../test/support/world.ts';

interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** Sends a request and keeps the body as it came: fetch() would decompress it. */
function ask(url: string, method: string, headers: Record<string, string>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers }, async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode!, headers: response.headers, body });
    });
    request.on('error', reject);
    request.end();
  });
}

/** A project with a list of more than 1 KiB, and a request for a path of the API as its maintainer. */
async function longList() {
  const { as, people, project, url } = await world();
  const maintainer = as('maintainer');
  for (const name of ['a', 'b'])
    await maintainer.post(`/projects/${project.id}/labels`, { name, color: '#112233', description: 'x'.repeat(1000) });
  const list = `/projects/${project.id}/labels`;
  const get = (path: string, accepted: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(`${url}/api/v4${path}`, method, {
      'private-token': people.maintainer.token,
      'accept-encoding': accepted,
      ...headers,
    });
  return { maintainer, project, list, get };
}

test('lists are compressed as the client accepts it', async () => {
  const { list, get } = await longList();
  const plain = await get(list, 'identity');
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const [accepted, encoding, decompress] of [
    ['gzip, deflate', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ] as const) {
    const { headers, body } = await get(list, accepted);
    assert.equal(headers['content-encoding'], encoding, accepted);
    assert.match(headers.vary!, /accept-encoding/i);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['x-total'], '2');
    assert.equal(headers.etag, plain.headers.etag);
    assert.ok(body.length < 500);
    assert.deepEqual(decompress(body), plain.body);
  }
  assert.deepEqual((await get(list, 'zstd')).body, plain.body);
});

test('the description of the API is compressed, too', async () => {
  const { get } = await longList();
  const plain = await get('/openapi.json', 'identity');
  const packed = await get('/openapi.json', 'gzip');
  assert.deepEqual([plain.headers['content-encoding'], packed.headers['content-encoding']], [undefined, 'gzip']);
  assert.ok(packed.body.length * 5 < plain.body.length);
  assert.deepEqual(gunzipSync(packed.body), plain.body);
});

test('HEAD and 304 stay without a body where GET is compressed', async () => {
  const { list, get } = await longList();
  const head = await get(list, 'gzip', {}, 'HEAD');
  assert.deepEqual([head.status, head.body.length], [200, 0]);
  const unchanged = await get(list, 'gzip', { 'if-none-match': head.headers.etag! });
  assert.deepEqual([unchanged.status, unchanged.body.length], [304, 0]);
  assert.equal(unchanged.headers['content-encoding'], undefined);
});

test('replies below 1 KiB, other than text or with secrets are not compressed', async () => {
  const { maintainer, project, get } = await longList();
  for (const key of ['A', 'B'])
    await maintainer.post(`/projects/${project.id}/variables`, { key, value: 'x'.repeat(1000) });
  const change = { branch: 'main', content: 'x'.repeat(5000), commit_message: 'Add a file' };
  assert.equal((await maintainer.post(`/projects/${project.id}/repository/files/long.txt`, change)).status, 201);
  for (const path of [
    '/version',
    `/projects/${project.id}/variables`,
    `/projects/${project.id}/variables/A`,
    `/projects/${project.id}/repository/files/long.txt/raw?ref=main`,
  ]) {
    const { headers } = await get(path, 'gzip, br');
    assert.equal(headers['content-encoding'], undefined, path);
  }
});
