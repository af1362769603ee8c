import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { leadHere } from '../../test/support/names.ts';
import { ResponseTooLong, throughProxy } from './index.ts';

/** A server that sends back what it gets, and its address as one of https: what goes through a tunnel is not looked at. */
async function echo(t: TestContext): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => sockets.add(socket.on('error', () => {}).pipe(socket)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Opens a tunnel, and says what the proxy answers. */
async function tunnel(proxy_url: string, path: string, credential?: string) {
  const { hostname, port, username, password } = new URL(proxy_url);
  const given = Buffer.from(credential ?? `${username}:${password}`).toString('base64');
  const headers = { 'proxy-authorization': `Basic ${given}` };
  const connecting = request({ hostname, port, method: 'CONNECT', path, headers }).end();
  const [{ statusCode }, socket] = (await once(connecting, 'connect')) as [{ statusCode: number }, Socket];
  return { status: statusCode, socket: socket.on('error', () => {}) };
}

const rules = (url: string, most_bytes = 1000) => ({ url, may_be_local: true, most_bytes });

test('a tunnel leads to one host with the password of the proxy, and nowhere else', async (t) => {
  const url = await echo(t);
  const { host } = new URL(url);
  await throughProxy(rules(url), async (proxy_url) => {
    const open = await tunnel(proxy_url, host);
    assert.equal(open.status, 200);
    open.socket.write('hello');
    assert.equal(String((await once(open.socket, 'data'))[0]), 'hello');
    for (const credential of ['', 'coppice:', 'coppice:wrong'])
      assert.equal((await tunnel(proxy_url, host, credential)).status, 407);
    for (const path of ['127.0.0.1:1', `localhost:${new URL(url).port}`, 'example.com:443', 'x', `${host}/`])
      assert.equal((await tunnel(proxy_url, path)).status, path === `${host}/` ? 200 : 403, path);
  });
});

test('a tunnel ends when the other system has sent too much, with everything', async (t) => {
  const url = await echo(t);
  const failing = throughProxy(rules(url, 10), async (proxy_url) => {
    const { socket } = await tunnel(proxy_url, new URL(url).host);
    socket.resume().write('x'.repeat(11));
    await once(socket, 'close');
    throw new Error('the program has failed');
  });
  await assert.rejects(failing, ResponseTooLong);
});

test('a program that succeeds is not disturbed by what failed on the way, and the proxy is gone afterwards', async (t) => {
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const used = await throughProxy(rules(url), async (proxy_url) => {
    assert.equal((await tunnel(proxy_url, 'example.com:443')).status, 403);
    return proxy_url;
  });
  await assert.rejects(tunnel(used, new URL(url).host), { code: 'ECONNREFUSED' });
});

test('a name that leads to this machine is refused when the connection is made', async (t) => {
  let connections = 0;
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  server.on('connection', () => {
    connections += 1;
  });
  await once(server, 'listening');
  t.after(() => server.close());
  leadHere(t, 'source.example.com');
  const host = `source.example.com:${(server.address() as AddressInfo).port}`;
  const blocked = { name: 'BlockedError', message: 'Requests to localhost are not allowed' };
  const tunneling = throughProxy({ ...rules(`https://${host}`), may_be_local: false }, async (proxy_url) => {
    assert.equal((await tunnel(proxy_url, host)).status, 502);
    throw new Error('the program has failed');
  });
  await assert.rejects(tunneling, blocked);
  const forwarding = throughProxy({ ...rules(`http://${host}`), may_be_local: false }, async (proxy_url) => {
    const { hostname, port, username, password } = new URL(proxy_url);
    const headers = { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
    await once(request({ hostname, port, path: `http://${host}/`, headers }).end(), 'response');
  });
  await assert.rejects(forwarding, blocked);
  assert.equal(connections, 0);
});
