import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { leadHere } from '../../../../test/support/names.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { removeOldPictures, throughProxy } from './index.ts';
import { pictureType } from './rules.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const svg = (inner = '') => `<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/>${inner}</svg>`;

/** Another server. */
async function startOrigin(t: TestContext, answers: Record<string, (response: ServerResponse) => void>) {
  const asked: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    headers.push(request.headers);
    const answer = answers[request.url!];
    if (answer) answer(response);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { asked, headers, server, port, url: `http://127.0.0.1:${port}` };
}

/** Where a picture is shown. */
function pathOf({ services }: World, address: string): string {
  const [, path] = /src="([^"]*)"/.exec(throughProxy(services, `<img src="${address.replaceAll('&', '&amp;')}" />`))!;
  return path!;
}

const show = async (here: World, path: string) => {
  const response = await fetch(here.url + path);
  return { type: response.headers.get('content-type'), response, body: Buffer.from(await response.arrayBuffer()) };
};

const allowLocal = (here: World, isAllowed: boolean) =>
  here.as('admin').put('/application/settings', { allow_local_requests_from_web_hooks_and_services: isAllowed });

test('pictures of other servers are fetched once, and shown without an origin', async (t) => {
  const here = await world({});
  const origin = await startOrigin(t, {
    '/a.png?x=1&y=2': (response) => response.end(png),
    '/badge': (response) => response.end(svg()),
    '/away': (response) => response.writeHead(302, { location: '/badge' }).end(),
  });
  await allowLocal(here, true);
  const path = pathOf(here, `${origin.url}/a.png?x=1&y=2`);
  assert.match(path, /^\/-\/picture\/[\w-]{22}\/[\w-]+$/);
  const first = await show(here, path);
  assert.deepEqual([first.type, first.body], ['image/png', png]);
  assert.match(first.response.headers.get('content-security-policy')!, /default-src 'none'.*sandbox/);
  assert.deepEqual((await show(here, path)).body, png);
  assert.deepEqual(origin.asked, ['/a.png?x=1&y=2']);
  assert.deepEqual(
    ['cookie', 'referer', 'authorization'].filter((name) => name in origin.headers[0]!),
    [],
  );
  const badge = await show(here, pathOf(here, `${origin.url}/away`));
  assert.deepEqual([badge.type, badge.body.toString()], ['image/svg+xml', svg()]);

  // What this server has not signed is not fetched.
  const forged = path.replace(/[\w-]{22}\//, `${'A'.repeat(22)}/`);
  for (const wrong of [forged, '/-/picture/x', '/-/picture/', path.slice(0, -8)])
    assert.equal((await show(here, wrong)).response.status, 404, wrong);

  // A day later they are asked again, and what was there stays if they fail.
  await here.db.updateTable('proxied_pictures').set({ fetched_at: '2001-01-01T00:00:00Z' }).execute();
  origin.server.removeAllListeners('request').on('request', (_, response) => response.writeHead(500).end());
  assert.deepEqual((await show(here, path)).body, png);

  await here.db.updateTable('proxied_pictures').set({ used_at: '2001-01-01T00:00:00Z' }).execute();
  const keys = (await here.db.selectFrom('proxied_pictures').select('blob_key').execute()).map((row) => row.blob_key);
  await performJob(here.services, removeOldPictures, {});
  assert.deepEqual(await here.db.selectFrom('proxied_pictures').selectAll().execute(), []);
  for (const key of keys) assert.equal(await here.services.blobs.stat(key as `${string}/${string}`), undefined);
});

test('what is no picture, too large, or on a local address is a placeholder with its address', async (t) => {
  const here = await world({});
  const origin = await startOrigin(t, {
    '/page': (response) => response.end('<html><body>No</body></html>'),
    '/script': (response) => response.end(svg('<script>alert(1)</script>')),
    '/huge': (response) => response.end(Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)])),
    '/local': (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/a.png' }).end(),
    '/broken': (response) => response.destroy(),
    '/a.png': (response) => response.end(png),
  });
  await allowLocal(here, true);
  for (const path of ['/page', '/script', '/huge', '/missing', '/broken']) {
    const { type, body, response } = await show(here, pathOf(here, origin.url + path));
    assert.deepEqual([response.status, type], [200, 'image/svg+xml'], path);
    assert.ok(body.includes(`127.0.0.1:${origin.port}${path}`), path);
    assert.ok(!body.includes('alert'), path);
  }
  const asked = origin.asked.length;
  await show(here, pathOf(here, `${origin.url}/page`));
  assert.equal(origin.asked.length, asked, 'a failure is remembered');

  await allowLocal(here, false);
  assert.ok((await show(here, pathOf(here, `${origin.url}/a.png`))).body.includes('/a.png</text>'));
  leadHere(t, 'pictures.example.com');
  assert.ok((await show(here, pathOf(here, `http://pictures.example.com:${origin.port}/local`))).body.includes('<svg'));
  assert.equal(origin.asked.length, asked, 'local addresses are not asked');

  await here.as('admin').put('/application/settings', { asset_proxy_enabled: false });
  await allowLocal(here, true);
  await here.db.deleteFrom('proxied_pictures').execute();
  assert.ok((await show(here, pathOf(here, `${origin.url}/a.png`))).body.includes('/a.png</text>'));
  assert.equal(origin.asked.length, asked, 'nothing is fetched while the proxy is off');
  await here.as('admin').put('/application/settings', { asset_proxy_enabled: true });
});

test('a server that does not answer takes some of the places, and others are shown meanwhile', async (t) => {
  const here = await world({});
  const hanging: ServerResponse[] = [];
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const slow = await startOrigin(
    t,
    Object.fromEntries(
      [1, 2, 3, 4].map((number) => [
        `/${number}.png`,
        (response: ServerResponse) => {
          if (hanging.push(response) === 3) resolve();
        },
      ]),
    ),
  );
  const quick = await startOrigin(t, { '/a.png': (response) => response.end(png) });
  await allowLocal(here, true);
  const waiting = [1, 2, 3, 4].map((number) => show(here, pathOf(here, `${slow.url}/${number}.png`)));
  await arrived;
  assert.deepEqual((await show(here, pathOf(here, `${quick.url}/a.png`))).body, png);
  assert.equal(slow.asked.length, 3);
  slow.server.on('request', (_, response) => response.destroy());
  for (const response of hanging) response.destroy();
  for (const { body } of await Promise.all(waiting)) assert.ok(body.includes('.png</text>'));
});

test('pictures of this server, and addresses that are none, stay as they are', async () => {
  const { services } = await world();
  const { url } = services;
  for (const html of [
    `<img src="${url}/a.png" />`,
    '<img src="/a.png" />',
    '<img src="https://user:word@x.example/a.png" />',
    `<img src="https://x.example/${'a'.repeat(3000)}" />`,
    '<p>&lt;img src="https://x.example/a.png"&gt;</p>',
    '<a href="https://x.example/a.png">x</a>',
  ])
    assert.equal(throughProxy(services, html), html);
  assert.match(
    throughProxy(services, '<p><img alt="a" src="https://x.example/a.png" width="9" /></p>'),
    /^<p><img alt="a" src="\/-\/picture\/[^"]*" loading="lazy" width="9" \/><\/p>$/,
  );
});

test('only pictures that run nothing are pictures', () => {
  assert.equal(pictureType(png), 'image/png');
  assert.equal(
    pictureType(Buffer.from(`\uFEFF<?xml version="1.0"?><!DOCTYPE svg>${svg('<style>a{}</style>')}`)),
    'image/svg+xml',
  );
  for (const text of [
    svg('<script/>'),
    svg('<x:script xmlns:x="http://www.w3.org/2000/svg"/>'),
    svg('<g onload="alert(1)"/>'),
    svg('<a href=" javascript:alert(1)"/>'),
    svg('<foreignObject/>'),
    `<!DOCTYPE svg [<!ENTITY a "b">]>${svg()}`,
    '<svg',
    '<html></html>',
    '',
    'BM'.slice(0, 1),
  ])
    assert.equal(pictureType(Buffer.from(text)), undefined, text);
});
