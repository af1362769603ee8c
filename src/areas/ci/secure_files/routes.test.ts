import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';
import { decrypted } from '../../../secrets/index.ts';

type World = Awaited<ReturnType<typeof world>>;

const certificate = `-----BEGIN CERTIFICATE-----
MIIBxDCCAWugAwIBAgIUfRJptrzXxjAe3aqzcNUZUW9epCQwCgYIKoZIzj0EAwIw
NzELMAkGA1UEBhMCTk8xEDAOBgNVBAoMB09yY2hhcmQxFjAUBgNVBAMMDUFwcGxl
IFNpZ25pbmcwIBcNMjYxMTMwMDgzODE5WhgPMjEyNjExMDYwODM4MTlaMDcxCzAJ
BgNVBAYTAk5PMRAwDgYDVQQKDAdPcmNoYXJkMRYwFAYDVQQDDA1BcHBsZSBTaWdu
aW5nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE0OjYVf0WW7tffIWAIJwn2sK2
vaz3V8XUAOZzikE+pYwrT6GZUfX7bI0YQTeHXkLDZQTwaXy77nbWTJUdjRsEGqNT
MFEwHQYDVR0OBBYEFFXnaJ+vykhctqXLb6FDeddbtArOMB8GA1UdIwQYMBaAFFXn
aJ+vykhctqXLb6FDeddbtArOMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID
RwAwRAIgSyu55IBC4pR4sopO+IblOO8kfoMzCNRoTJFUMD48c9ECIDoSBVnNzTua
ZS7hDRJTkN5SkdufjXKbIcfTGopGZ82f
-----END CERTIFICATE-----
`;

function uploads({ as, project }: Pick<World, 'as' | 'project'>) {
  const path = `/projects/${project.id}/secure_files`;
  const upload = (name: string, content: string, persona: 'maintainer' | 'developer' = 'maintainer') => {
    const form = new FormData();
    form.set('name', name);
    form.set('file', new Blob([content]), 'upload.bin');
    return as(persona).post(path, undefined, { raw: form });
  };
  return { path, upload };
}

test('a secure file is uploaded, shown, downloaded and deleted', async () => {
  const here = await world();
  const { as, db } = here;
  const { path, upload } = uploads(here);
  const made = await sent(upload('release.keystore', 'the key of releases'));
  const { id, created_at, ...shown } = made;
  assert.deepEqual(shown, {
    name: 'release.keystore',
    checksum: 'c27962802c8f1fbe6e45ea43fcd4eea7c54d6657408d4014fc922f260864b54a',
    checksum_algorithm: 'sha256',
    ...{ expires_at: null, metadata: null, metadata_parsable: false, file_extension: 'keystore' },
  });
  assert.match(created_at, /^20/);
  assert.deepEqual((await as('developer').get(`${path}/${id}`)).body, made);
  assert.deepEqual((await as('developer').get(path)).body, [made]);
  const got = await as('developer').get(`${path}/${id}/download`);
  assert.deepEqual([got.status, got.body], [200, 'the key of releases']);
  assert.match(got.headers.get('content-disposition')!, /^attachment; filename="release.keystore"/);
  const { blob_key } = await db.selectFrom('secure_files').select('blob_key').executeTakeFirstOrThrow();
  assert.equal((await as('maintainer').delete(`${path}/${id}`)).status, 204);
  assert.equal((await as('developer').get(`${path}/${id}/download`)).status, 404);
  const unused = await db.selectFrom('unused_blobs').select('key').where('key', '=', blob_key).execute();
  assert.equal(unused.length, 1);
});

test('what is stored of a secure file is encrypted', async () => {
  const here = await world();
  const { db, services } = here;
  await sent(uploads(here).upload('a.key', 'secret bytes'));
  const row = await db.selectFrom('secure_files').selectAll().executeTakeFirstOrThrow();
  const stream = (await services.blobs.read(row.blob_key as Parameters<typeof services.blobs.read>[0]))!;
  const stored = Buffer.concat((await Array.fromAsync(stream)) as Buffer[]);
  assert.ok(!stored.includes('secret'));
  const key = Buffer.from(services.secrets.unseal('secure file key', row.content_key)!, 'base64');
  assert.equal((await decrypted(key, stored)).toString(), 'secret bytes');
});

test('a certificate says who issued it and when it ends', async () => {
  const here = await world();
  const { upload } = uploads(here);
  const name = { C: 'NO', O: 'Orchard', CN: 'Apple Signing' };
  const { metadata, metadata_parsable, expires_at } = await sent(upload('apple.CER', certificate));
  assert.deepEqual([metadata.issuer, metadata.subject, metadata_parsable], [name, name, true]);
  assert.match(expires_at, /^2126-11-06T08:38:19/);
  assert.equal(metadata.id, '7D1269B6BCD7C6301EDDAAB370D519516F5EA424');
  const other = await sent(upload('other.cer', 'no certificate'));
  assert.deepEqual([other.metadata, other.metadata_parsable, other.expires_at], [null, true, null]);
});

test('files that are refused', async () => {
  const here = await world();
  const { as, db, project } = here;
  const { path, upload } = uploads(here);
  await sent(upload('a.key', 'a'));
  const taken = await upload('a.key', 'b');
  assert.deepEqual([taken.status, taken.body.message], [400, { name: ['has already been taken'] }]);
  for (const name of ['../a.key', 'a\\b', '..', ' ', 'a\nb', 'a'.repeat(256)]) {
    const { status, body } = await upload(name, 'a');
    assert.deepEqual([status, body.message ?? body.error], [400, { name: ['is invalid'] }], JSON.stringify(name));
  }
  assert.equal((await upload('large', 'a'.repeat(5 * 1024 * 1024 + 1))).status, 413);
  assert.equal((await upload('largest', 'a'.repeat(5 * 1024 * 1024))).status, 201);
  assert.equal((await as('maintainer').post(path, { name: 'b.key' })).status, 400);
  await sql`
    insert into secure_files (project_id, name, checksum, content_key, blob_key, stored_bytes, stored_sha256)
    select ${project.id}, 'file ' || turn, '', '', 'secure_files/' || turn, 1, '' from generate_series(3, 100) turn`.execute(
    db,
  );
  const { status, body } = await upload('one too many', 'a');
  assert.deepEqual([status, body.message], [400, { base: ['Maximum number of secure files (100) exceeded'] }]);
});

test('secure files are read by Developers and changed by Maintainers', async () => {
  const here = await world();
  const { as } = here;
  const { path, upload } = uploads(here);
  const { id } = await sent(upload('a.key', 'a'));
  assert.equal((await upload('b.key', 'b', 'developer')).status, 403);
  assert.equal((await as('developer').delete(`${path}/${id}`)).status, 403);
  for (const address of [path, `${path}/${id}`, `${path}/${id}/download`]) {
    assert.equal((await as('reporter').get(address)).status, 403, address);
    assert.equal((await as('outsider').get(address)).status, 404, address);
  }
});

test('a job reads the secure files of its project while it is for a protected branch', async () => {
  const here = await built('build: {script: make}');
  const { as, at, db } = here;
  const { upload, path } = uploads(here);
  const { id } = await sent(upload('a.key', 'secret bytes'));
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  const { authorized: headers } = (await runner.take())!;
  const reads = async () => (await runner.call('GET', `${path}/${id}/download`, { headers })).status;
  assert.equal(await reads(), 200);
  assert.equal((await runner.call('GET', path, { headers })).body[0].name, 'a.key');
  assert.equal((await runner.call('DELETE', `${path}/${id}`, { headers })).status, 403);
  await db.updateTable('pipelines').set({ is_protected: false }).execute();
  assert.equal(await reads(), 403);
});

test('secure files go with their project', async () => {
  const here = await world();
  const { db, project } = here;
  await sent(uploads(here).upload('a.key', 'a'));
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  const { rows } = await sql`select from secure_files where project_id = ${project.id}`.execute(db);
  assert.equal(rows.length, 0);
});
