import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import pino from 'pino';
import { addIssue } from '../../../../../test/support/issues.ts';
import { type Persona, type World, world } from '../../../../../test/support/world.ts';
import type { BlobKey } from '../../../../blobs/index.ts';
import { removeUnusedBlobs } from '../../../instance/blobs/index.ts';

const imagesOf = ({ project }: World, { iid }: { iid: number }) =>
  `/projects/${project.id}/issues/${iid}/metric_images`;
const pixels = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 255]);

function form(fields: Record<string, string>, file?: { name: string; bytes: Uint8Array<ArrayBuffer> }): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (file) body.append('file', new Blob([file.bytes]), file.name);
  return body;
}

const upload = (here: World, persona: Persona | 'anonymous', path: string, body: FormData) =>
  here.as(persona).post(path, undefined, { raw: body });

const blobsIn = async ({ db }: World) =>
  (await db.selectFrom('issue_metric_images').select(['blob_key', 'size_bytes']).orderBy('id').execute()).map(
    (row) => row,
  );

test('an image is uploaded to an incident, listed, updated and deleted with its bytes', async () => {
  const here = await world({});
  const { as, services, db } = here;
  const incident = await addIssue(here, { issue_type: 'incident' });
  const path = imagesOf(here, incident);
  const fields = { url: 'https://graphs.example/1', url_text: 'Load' };
  const { status, body } = await upload(
    here,
    'reporter',
    path,
    form(fields, { name: 'C:\\shots\\load graph.png', bytes: pixels }),
  );
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(body, {
    id: body.id,
    created_at: body.created_at,
    filename: 'load graph.png',
    file_path: `/uploads/-/system/issuable_metric_image/file/${body.id}/load%20graph.png`,
    ...fields,
  });
  assert.deepEqual((await as('guest').get(path)).body, [body]);
  const [row] = await blobsIn(here);
  assert.equal(row!.size_bytes, pixels.length);
  const project = await as('owner').get(`/projects/${here.project.id}`, { statistics: true });
  assert.equal(project.body.statistics.uploads_size, pixels.length);
  const key = row!.blob_key as BlobKey;
  assert.deepEqual(new Uint8Array(await buffer((await services.blobs.read(key))!)), pixels);
  assert.deepEqual(await db.selectFrom('unused_blobs').select('key').execute(), []);

  const changed = await as('reporter').put(`${path}/${body.id}`, { url: '', url_text: null });
  assert.deepEqual([changed.status, changed.body.url, changed.body.url_text], [200, '', null]);
  assert.equal((await as('reporter').put(`${path}/${body.id}`, { url: 'javascript:alert(1)' })).status, 400);
  assert.equal(
    (await as('reporter').put(`${path}/99999`, { url_text: 'x' })).body.message,
    '404 Metric image Not Found',
  );
  assert.equal((await as('guest').delete(`${path}/${body.id}`)).status, 403);
  assert.equal((await as('reporter').delete(`${path}/${body.id}`)).status, 204);
  assert.deepEqual((await as('guest').get(path)).body, []);

  const run = () =>
    removeUnusedBlobs.perform(
      {},
      { ...services, log: pino({ level: 'silent' }), signal: new AbortController().signal },
    );
  await run();
  assert.ok(await services.blobs.read(key).then((stream) => stream?.destroy()), 'one that may be coming in stays');
  await db.updateTable('unused_blobs').set({ since: '2001-01-01T00:00:00Z' }).execute();
  await run();
  assert.equal(await services.blobs.read(key), undefined);
  assert.deepEqual(await db.selectFrom('unused_blobs').select('key').execute(), []);
});

test('files that are not images and uploads without the right are not stored', async () => {
  const here = await world({});
  const incident = await addIssue(here, { issue_type: 'incident' });
  const issue = await addIssue(here);
  const path = imagesOf(here, incident);
  const image = { name: 'a.png', bytes: pixels };
  const files = async () => {
    const names = await readdir(here.services.storages.default!.replace(/repositories$/, 'blobs'), {
      recursive: true,
      withFileTypes: true,
    });
    return names.filter((entry) => entry.isFile()).length;
  };
  const before = await files().catch(() => 0);
  assert.equal((await upload(here, 'guest', path, form({}, image))).status, 403);
  assert.equal((await upload(here, 'outsider', path, form({}, image))).status, 404);
  assert.equal((await upload(here, 'anonymous', path, form({}, image))).status, 401);
  assert.equal((await upload(here, 'reporter', imagesOf(here, issue), form({}, image))).status, 403);
  const refusal = async (body: FormData) => {
    const { status, body: reply } = await upload(here, 'reporter', path, body);
    assert.equal(status, 400);
    return reply.message;
  };
  assert.equal(await refusal(form({}, { ...image, name: 'a.svg' })), 'Metric image could not be uploaded');
  assert.equal(
    await refusal(form({}, { name: 'a.png', bytes: new Uint8Array() })),
    'Metric image could not be uploaded',
  );
  assert.equal(await refusal(form({ url: 'x' })), 'file is missing');
  assert.equal(await refusal(form({ file: 'text' })), 'file is invalid');
  assert.deepEqual(await refusal(form({ url: 'ftp://x' }, image)), { url: ['must be a valid URL'] });
  assert.deepEqual((await here.as('reporter').post(path, { file: 'a' })).body.message, 'file is invalid');
  assert.deepEqual(await blobsIn(here), []);
  assert.equal(await files().catch(() => 0), before);
});

test('users who may read the issue can download its images', async () => {
  const here = await world({});
  const incident = await addIssue(here, { issue_type: 'incident', confidential: true });
  const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2]);
  const sent = form({}, { name: 'load graph.png', bytes });
  const { file_path } = (await upload(here, 'reporter', imagesOf(here, incident), sent)).body;
  const ask = (persona?: Persona, path = file_path) =>
    fetch(`${here.url}${path}`, persona ? { headers: { 'private-token': here.people[persona].token } } : {});

  const answer = await ask('reporter');
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png']);
  assert.match(answer.headers.get('content-disposition') ?? '', /^inline; filename="load graph\.png"/);
  assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), bytes);
  for (const [persona, path] of [['guest'], [undefined], ['reporter', file_path.replace('load', 'other')]] as const)
    assert.equal((await ask(persona, path)).status, 404);

  const script = form({}, { name: 'page.png', bytes: new TextEncoder().encode('<script>alert(1)</script>') });
  const page = (await upload(here, 'reporter', imagesOf(here, incident), script)).body;
  const shown = await ask('reporter', page.file_path);
  assert.match(shown.headers.get('content-disposition') ?? '', /^attachment/);
  assert.equal(shown.headers.get('content-type'), 'text/plain; charset=utf-8');
});
