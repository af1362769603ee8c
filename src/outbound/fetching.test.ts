import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { BlockedError, fetchJson, LimitError } from './index.ts';

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
  ...{ silence_ms: 5000, signal: new AbortController().signal },
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
  assert.deepEqual((await fetchJson(fetching(`${url}/a`), 1000)).value, { at: 'elsewhere' });
  assert.deepEqual(seen.splice(0), ['secret', 'secret', undefined]);
  await assert.rejects(fetchJson(fetching(`${url}/endless`), 1000), { name: 'OutboundError', message: 'Redirected too often' });
  assert.equal(seen.length, 3);
  await assert.rejects(fetchJson(fetching(`${url}/file`), 1000), /not allowed/);
});

test('addresses of this machine are refused', async (t) => {
  let requests = 0;
  const url = await serving(t, (_request, response) => {
    requests += 1;
    response.end('{}');
  });
  await assert.rejects(fetchJson(fetching(url, false), 1000), BlockedError);
  await assert.rejects(fetchJson(fetching(url.replace('127.0.0.1', 'localhost'), false), 1000), BlockedError);
  assert.equal(requests, 0);
});

test('JSON that is too large or too deep is not read, and keys that change objects are dropped', async (t) => {
  const bodies: Record<string, string> = {
    '/endless': 'x',
    '/deep': '['.repeat(65),
    '/proto': '{"__proto__":{"admin":true},"a":{"constructor":{"prototype":{}}}}',
    '/text': '<html>',
  };
  const url = await serving(t, (request, response) => {
    if (request.url !== '/endless') return void response.end(bodies[request.url!]);
    const write = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', write);
    write();
  });
  await assert.rejects(fetchJson(fetching(`${url}/endless`), 1_000_000), LimitError);
  await assert.rejects(fetchJson(fetching(`${url}/deep`), 1_000_000), LimitError);
  assert.deepEqual((await fetchJson(fetching(`${url}/proto`), 1000)).value, { a: {} });
  assert.equal((await fetchJson(fetching(`${url}/text`), 1000)).value, undefined);
});
