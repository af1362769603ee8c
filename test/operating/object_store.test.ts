/** A server whose large files are in an object store. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { credentials, objectStore } from '../support/s3.ts';
import { fileForm } from '../support/uploads.ts';
import { coppice, dataFolder, folder, oneCall, rootToken, type Server, serve } from './coppice.ts';
import { addLargeFile, large } from './large_file.ts';

const content = 'the notes of a meeting\n'.repeat(10);
/** The smallest GIF. */
const image = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

const send = (server: Server, method: string, address: string, body: FormData) =>
  fetch(`${server.url}/api/v4${address}`, { method, headers: { ...oneCall, 'private-token': rootToken }, body });

test('large files are in the bucket: uploaded, downloaded in parts, backed up, restored and checked', async () => {
  const store = await objectStore();
  const below = async (prefix: string) =>
    (await store.objects())
      .filter((name) => name.startsWith(`${prefix}/`))
      .map((name) => name.slice(prefix.length + 1));
  const source = { COPPICE_DATA: await dataFolder(), COPPICE_BLOBS: store.address('one'), ...credentials };
  const server = await serve(source);
  const project = (await server.root.post('/projects', { name: 'apples', initialize_with_readme: true })).body;
  const place = `/projects/${project.id}`;

  const uploaded = await send(server, 'POST', `${place}/uploads`, fileForm('notes.txt', content));
  assert.equal(uploaded.status, 201);
  const { id } = (await uploaded.json()) as { id: number };
  const read = (headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/v4${place}/uploads/${id}`, {
      headers: { ...oneCall, 'private-token': rootToken, ...headers },
    });
  assert.equal(await (await read()).text(), content);
  const part = await read({ range: 'bytes=4-8' });
  assert.deepEqual([part.status, await part.text()], [206, 'notes']);

  const avatar = new FormData();
  avatar.append('avatar', new Blob([image]), 'apple.gif');
  assert.equal((await send(server, 'PUT', place, avatar)).status, 200);
  const shown = await fetch(`${server.url}/api/v4${place}/avatar`, {
    headers: { ...oneCall, 'private-token': rootToken },
  });
  assert.deepEqual(Buffer.from(await shown.arrayBuffer()), image);

  const { address, authorization } = await addLargeFile(server, 'root/apples');
  const download = await fetch(server.url + address, { headers: { ...oneCall, authorization } });
  assert.deepEqual([download.status, await download.text()], [200, large]);
  const objects = await below('one');
  assert.deepEqual(
    objects.map((name) => name.split('/')[0]),
    ['avatars', 'lfs', 'uploads'],
  );

  const file = path.join(await folder(), 'backup.tar.zst');
  const made = await coppice(['backup', '--to', file], source);
  assert.deepEqual([made.code, made.err], [0, '']);

  await store.stop();
  const refused = await send(server, 'POST', `${place}/uploads`, fileForm('lost.txt', content));
  const message = '503 Service Unavailable - The store of large files cannot be reached';
  assert.deepEqual([refused.status, await refused.json()], [503, { message }]);
  assert.equal((await read()).status, 503);
  assert.equal((await server.root.get(place)).status, 200);
  await store.start();
  assert.equal((await server.root.get(`${place}/uploads`)).body.length, 1);
  assert.equal(await (await read()).text(), content);
  assert.equal(await server.stop(), 0);

  const target = (prefix: string, data: string) => ({
    ...source,
    COPPICE_DATA: data,
    COPPICE_BLOBS: store.address(prefix),
  });
  const elsewhere = path.join(await folder(), 'data');
  const full = await coppice(['restore', '--from', file], target('one', elsewhere));
  assert.deepEqual([full.code, /^s3:\/\/blobs\/one is not empty/.test(full.err)], [1, true], full.err);
  assert.deepEqual(await below('one'), objects);
  const damaged = path.join(await folder(), 'damaged.tar.zst');
  await writeFile(damaged, (await readFile(file)).subarray(0, -40));
  const cut = await coppice(['restore', '--from', damaged], target('two', elsewhere));
  assert.deepEqual([cut.code, /is damaged.*Nothing was restored\.\n$/.test(cut.err)], [1, true], cut.err);
  assert.deepEqual(await below('two'), []);
  const restored = await coppice(['restore', '--from', file], target('two', elsewhere));
  assert.deepEqual([restored.code, restored.err], [0, '']);
  assert.deepEqual(await below('two'), objects);
  const checked = await coppice(['check'], target('two', elsewhere));
  assert.deepEqual([checked.code, checked.out], [0, 'No problems found.\n']);

  // From the bucket into a folder: the same files.
  const { COPPICE_BLOBS: _bucket, ...local } = target('two', path.join(await folder(), 'data'));
  assert.equal((await coppice(['restore', '--from', file], local)).code, 0);
  for (const name of objects) await readFile(path.join(local.COPPICE_DATA, 'blobs', name));
});
