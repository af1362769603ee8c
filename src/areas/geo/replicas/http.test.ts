/** What a primary gives its secondaries to copy. */
import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { filledWorld, repositoryIn } from '../../../../test/support/repository.ts';
import { fileForm } from '../../../../test/support/uploads.ts';
import { newCredential } from '../link/credential_rules.ts';
import { askPrimary } from '../link/request_actions.ts';

test('secondaries download repositories and files, and can distinguish missing from damaged ones', async () => {
  const here = await filledWorld({ environment: { COPPICE_GEO_ROLE: 'primary' } });
  const { db, services, project } = here;
  await db
    .insertInto('geo_nodes')
    .values({ name: 'Lisbon', url: 'https://lisbon.example/', credential: newCredential(services.secrets) })
    .execute();
  const geo = { role: 'secondary', nodeName: 'Lisbon', primaryUrl: here.url, databaseUrl: undefined } as const;
  const ask = async (at: string, headers: Record<string, string> = {}) => {
    const answer = await askPrimary({ secrets: services.secrets, geo }, { method: 'GET', path: at, headers });
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
  };
  const refs = (kind: string, id: number | string) =>
    ask(`/repositories/${kind}/${id}/info/refs?service=git-upload-pack`);

  const advertised = await refs('project', project.id);
  assert.equal(advertised.status, 200);
  assert.match(advertised.body, /^....version 2\n/);
  for (const [kind, id] of [
    ['project', 0],
    ['project', 'x'],
    ['project', 999_999],
    ['group_wiki', 1],
    ['uploads', project.id],
    ['constructor', project.id],
  ] as const)
    assert.equal((await refs(kind, id)).status, 404, `${kind} ${id}`);
  const { path: repository } = repositoryIn(here);
  await rename(repository, `${repository}.away`);
  assert.equal((await refs('project', project.id)).status, 404);
  await rename(`${repository}.away`, repository);
  await writeFile(path.join(repository, 'HEAD'), 'nothing');
  assert.equal((await refs('project', project.id)).status, 422);

  await here.as('owner').post(`/projects/${project.id}/uploads`, undefined, { raw: fileForm('a.txt', 'content') });
  const { blob_key, sha256 } = await db.selectFrom('uploads').select(['blob_key', 'sha256']).executeTakeFirstOrThrow();
  await db.insertInto('geo_checksums').values({ replicable: 'uploads', record: blob_key, checksum: sha256 }).execute();
  const blob = `/blobs/${encodeURIComponent(blob_key)}`;
  const whole = await ask(blob);
  assert.deepEqual([whole.status, whole.body, whole.headers.etag], [200, 'content', `"${sha256}"`]);
  const rest = await ask(blob, { range: 'bytes=4-' });
  assert.deepEqual([rest.status, rest.body, rest.headers['content-range']], [206, 'ent', 'bytes 4-6/7']);
  assert.equal((await ask(blob, { range: 'bytes=7-' })).status, 416);
  for (const key of ['uploads/none', 'x', '..%2F..%2Fsecret.key', `uploads%2F${'a'.repeat(48)}`])
    assert.equal((await ask(`/blobs/${key}`)).status, 404, key);
  const token = { 'private-token': here.people.admin.token };
  assert.equal((await fetch(`${here.url}/api/v4/geo${blob}`, { headers: token })).status, 401);
});
