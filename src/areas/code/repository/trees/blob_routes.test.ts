import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../../test/support/client.ts';
import { fileUrl, filledWorld, onMain } from '../../../../../test/support/repository.ts';
import { createToken } from '../../../people/personal_access_tokens/index.ts';

const readme = '814f4a422927b82f5f8a43f8fab6d3839e3983f2';

test('a blob is read by its id, as JSON and as raw bytes', async () => {
  const { as, project } = await filledWorld();
  const blobs = `/projects/${project.id}/repository/blobs`;
  const shown = await as('reporter').get(`${blobs}/${readme}`);
  const content = Buffer.from('one\ntwo\n').toString('base64');
  assert.deepEqual([shown.status, shown.body], [200, { size: 8, encoding: 'base64', content, sha: readme }]);
  const raw = await as('reporter').get(`${blobs}/${readme.toUpperCase()}/raw`);
  assert.deepEqual([raw.status, raw.body], [200, 'one\ntwo\n']);
  assert.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(raw.headers.get('content-disposition'), 'inline');
  assert.equal(raw.headers.get('x-content-type-options'), 'nosniff');
  const known = await as('reporter').head(`${blobs}/${readme}/raw`);
  assert.deepEqual([known.status, known.headers.get('content-length')], [200, '8']);
});

test('a large blob is streamed, and its type is detected from its first bytes', async () => {
  const { as, project } = await filledWorld();
  const page = `<html>${'x'.repeat(2_000_000)}`;
  await as('maintainer').post(fileUrl(project, 'page'), { ...onMain, content: page });
  const { blob_id } = (await as('reporter').get(fileUrl(project, 'page'), { ref: 'main' })).body;
  const raw = `/projects/${project.id}/repository/blobs/${blob_id}/raw`;
  const answer = await as('reporter').get(raw);
  assert.equal(answer.body, page);
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(answer.headers.get('content-length'), String(page.length));
  assert.equal((await as('reporter').head(raw)).headers.get('content-length'), String(page.length));
});

test('ids of other objects are not found, and blobs need the right to read code', async () => {
  const { as, project, db, people, url } = await filledWorld();
  const blobs = `/projects/${project.id}/repository/blobs`;
  const commit = (await as('reporter').get(`/projects/${project.id}/repository/commits/main`)).body.id;
  for (const sha of [commit, readme.slice(0, 10), 'main:README.md', 'f'.repeat(40), '--help']) {
    for (const path of [`${blobs}/${encodeURIComponent(sha)}`, `${blobs}/${encodeURIComponent(sha)}/raw`]) {
      const missing = await as('reporter').get(path);
      assert.deepEqual([missing.status, missing.body], [404, { message: '404 Blob Not Found' }], sha);
    }
  }
  assert.equal((await as('guest').get(`${blobs}/${readme}/raw`)).status, 403);
  assert.equal((await as('outsider').get(`${blobs}/${readme}`)).status, 404);

  const { value } = await createToken(db, {
    user_id: people.reporter.id,
    name: 'code',
    scopes: ['read_repository'],
    expires_at: null,
  });
  const reader = clientOf(`${url}/api/v4`, value);
  assert.equal((await reader.get(`${blobs}/${readme}/raw`)).status, 200);
  assert.equal((await reader.get(`${blobs}/${readme}`)).status, 403);
  assert.equal((await reader.get(`/projects/${project.id}/repository/archive.zip`)).status, 200);
});
