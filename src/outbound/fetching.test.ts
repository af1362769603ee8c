import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { BlockedError, download, fetchWhole, LimitError, OutboundError } from './index.ts';

async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const fetching = (url: string, may_be_local = true) => ({
  ...{
    method: 'GET' as const,
    url,
    headers: {},
    secret_headers: { 'private-token': 'secret' },
    verifies_tls: true,
    may_be_local,
  },
  silence_ms: 5000,
  signal: new AbortController().signal,
});

test('at most two redirects are followed, and the secret stays with its host', async (t) => {
  const seen: (string | undefined)[] = [];
  const elsewhere = await serving(t, (request, response) => {
    seen.push(request.headers['private-token'] as string | undefined);
    response.end('{"at":"elsewhere"}');
  });
  const url = await serving(t, (request, response) => {
    seen.push(request.headers['private-token'] as string | undefined);
    const to: Record<string, string> = {
      '/a': '/b',
      '/b': `${elsewhere}/`,
      '/endless': '/endless',
      '/file': 'file:///etc/passwd',
    };
    response.writeHead(302, { location: to[request.url!]! }).end();
  });
  assert.deepEqual((await fetchWhole(fetching(`${url}/a`), 1000)).body.toString(), '{"at":"elsewhere"}');
  assert.deepEqual(seen.splice(0), ['secret', 'secret', undefined]);
  await assert.rejects(fetchWhole(fetching(`${url}/endless`), 1000), {
    name: 'RefusedRedirect',
    message: 'Redirected too often',
  });
  assert.equal(seen.length, 3);
  await assert.rejects(fetchWhole(fetching(`${url}/file`), 1000), /not allowed/);
});

test('addresses of this machine are refused', async (t) => {
  let requests = 0;
  const url = await serving(t, (_request, response) => {
    requests += 1;
    response.end('{}');
  });
  await assert.rejects(fetchWhole(fetching(url, false), 1000), BlockedError);
  await assert.rejects(fetchWhole(fetching(url.replace('127.0.0.1', 'localhost'), false), 1000), BlockedError);
  assert.equal(requests, 0);
});

test('an answer without an end is not read to it', async (t) => {
  const url = await serving(t, (_request, response) => {
    const write = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', write);
    write();
  });
  await assert.rejects(fetchWhole(fetching(url), 1_000_000), LimitError);
});

test('an answer that comes byte by byte is given up', async (t) => {
  const url = await serving(t, (_request, response) => {
    const dripping = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(dripping));
  });
  await assert.rejects(fetchWhole({ ...fetching(url), silence_ms: 100 }, 1000), {
    name: 'OutboundError',
    message: 'The answer is slower than 16384 bytes a second',
  });
});

test('a download goes on where it was broken off, unless the file has changed', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-download-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'part');
  let [content, etag, breaks] = ['0123456789', '"one"', true];
  const ranges: (string | undefined)[] = [];
  const url = await serving(t, (request, response) => {
    ranges.push(request.headers.range);
    const from = request.headers['if-range'] === etag ? Number(/\d+/.exec(request.headers.range!)![0]) : 0;
    const part = from > 0 ? { 'content-range': `bytes ${from}-9/10` } : {};
    response.writeHead(from > 0 ? 206 : 200, { etag, 'content-length': content.length - from, ...part });
    if (!breaks) return void response.end(content.slice(from));
    response.write(content.slice(from, 4));
    // What the client has received and not written when the connection breaks is lost.
    void (async () => {
      while ((await stat(file).catch(() => undefined))?.size !== 4);
      response.destroy();
    })();
  });
  let known: string | undefined;
  const onEtag = async (given: string | undefined) => {
    known = given;
  };
  const attempt = (most_bytes = 100) => download(fetching(url), { file, etag: known, most_bytes, onEtag });
  await assert.rejects(attempt(), OutboundError);
  assert.equal(await readFile(file, 'utf8'), '0123');
  breaks = false;
  assert.equal((await attempt()).status, 206);
  assert.equal(await readFile(file, 'utf8'), '0123456789');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  [content, etag] = ['abcdefghij', '"two"'];
  assert.equal((await attempt()).status, 200);
  assert.equal(await readFile(file, 'utf8'), 'abcdefghij');
  assert.deepEqual(ranges, [undefined, 'bytes=4-', 'bytes=10-']);
  known = undefined;
  await assert.rejects(attempt(9), LimitError);
});
