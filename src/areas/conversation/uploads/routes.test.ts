import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { fetchFrom, fileForm, upload } from '../../../../test/support/uploads.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { removeUnusedBlobs } from '../../instance/blobs/index.ts';
import { removeProject } from '../../spaces/projects/index.ts';

const places = ({ project, group }: World) => [
  { place: `/projects/${project.id}`, web: `/-/project/${project.id}`, what: 'Project' },
  { place: `/groups/${group.id}`, web: `/-/group/${group.id}`, what: 'Group' },
];

const isStored = async ({ services }: World, key: string) => {
  const stream = await services.blobs.read(key as BlobKey);
  stream?.destroy();
  return stream !== undefined;
};
const rowOf = ({ db }: World, id: number) =>
  db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst();

test('a file is uploaded, listed, downloaded both ways, and deleted both ways with its bytes', async () => {
  const here = await world({});
  const { people, as } = here;
  for (const { place, web } of places(here)) {
    const { status, body } = await upload(here, 'guest', place, 'C:\\shots\\load graph (1).PNG', 'pixels');
    assert.equal(status, 201, JSON.stringify(body));
    const { secret } = (await rowOf(here, body.id))!;
    assert.match(secret, /^[0-9a-f]{32}$/);
    const url = `/uploads/${secret}/load_graph__1_.PNG`;
    assert.deepEqual(body, {
      id: body.id,
      alt: 'load_graph__1_',
      url,
      full_path: `${web}${url}`,
      markdown: `![load_graph__1_](${url})`,
    });
    const second = (await upload(here, 'reporter', place, 'notes.txt', 'two')).body;
    assert.equal(second.markdown, `[notes.txt](${second.url})`);

    const list = await as('maintainer').get(`${place}/uploads`, { per_page: 1 });
    assert.equal(list.headers.get('x-total'), '2');
    assert.deepEqual(list.body, [
      {
        id: second.id,
        size: 3,
        filename: 'notes.txt',
        created_at: list.body[0].created_at,
        uploaded_by: {
          id: people.reporter.id,
          name: people.reporter.username.replaceAll('-', ' '),
          username: people.reporter.username,
        },
      },
    ]);
    for (const persona of ['guest', 'maintainer'] as const) {
      const answer = await fetchFrom(here, `/api/v4${place}${url}`, persona);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'image/png');
      assert.equal(
        answer.headers.get('content-disposition'),
        `attachment; filename="load_graph__1_.PNG"; filename*=UTF-8''load_graph__1_.PNG`,
      );
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(await answer.text(), 'pixels');
    }
    const byId = await fetchFrom(here, `/api/v4${place}/uploads/${second.id}`, 'maintainer');
    assert.deepEqual([byId.status, byId.headers.get('content-type'), await byId.text()], [200, 'text/plain', 'two']);

    const [one, two] = [(await rowOf(here, body.id))!, (await rowOf(here, second.id))!];
    assert.equal(one.sha256, createHash('sha256').update('pixels').digest('hex'));
    assert.equal((await as('maintainer').delete(`${place}${url}`)).status, 204);
    assert.equal((await as('maintainer').delete(`${place}/uploads/${second.id}`)).status, 204);
    for (const { blob_key } of [one, two]) assert.equal(await isStored(here, blob_key), false);
    assert.deepEqual((await as('maintainer').get(`${place}/uploads`)).body, []);
    const gone = await as('guest').get(`${place}${url}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not Found' }]);
    const again = await as('maintainer').delete(`${place}/uploads/${second.id}`);
    assert.deepEqual([again.status, again.body], [404, { message: '404 Not found' }]);
  }
  assert.deepEqual(await here.db.selectFrom('unused_blobs').select('key').execute(), []);
});

test('roles decide who uploads, downloads, lists and deletes', async () => {
  const here = await world({});
  const { as, db, project, group } = here;
  for (const { place, what } of places(here)) {
    const { body } = await upload(here, 'guest', place, 'a.txt');
    const byId = `${place}/uploads/${body.id}`;
    const answers = async (persona: Persona | 'anonymous') => [
      (await upload(here, persona, place, 'b.txt')).status,
      (await as(persona).get(`${place}/uploads`)).status,
      (await as(persona).get(byId)).status,
      (await as(persona).get(`${place}${body.url}`)).status,
      (await as(persona).delete(byId)).status,
      (await as(persona).delete(`${place}${body.url}`)).status,
    ];
    assert.deepEqual(await answers('anonymous'), [401, 401, 401, 404, 401, 401]);
    assert.deepEqual(await answers('outsider'), [404, 404, 404, 404, 404, 404]);
    assert.deepEqual(await answers('developer'), [201, 403, 403, 200, 403, 403]);
    assert.deepEqual(await answers('maintainer'), [201, 200, 200, 200, 204, 404]);
    assert.equal((await as('outsider').get(`${place}${body.url}`)).body.message, `404 ${what} Not Found`);
  }
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  for (const { place } of places(here)) {
    const { body, status } = await upload(here, 'outsider', place, 'a.txt');
    assert.equal(status, 201);
    assert.equal((await as('anonymous').get(`${place}${body.url}`)).status, 200);
    assert.equal((await upload(here, 'anonymous', place, 'a.txt')).status, 401);
  }
});

test('members with minimal access see a private group, but not its uploads', async () => {
  const here = await world({});
  const { as, group, people } = here;
  const place = `/groups/${group.id}`;
  const { body } = await upload(here, 'guest', place, 'a.txt');
  await as('owner').post(`${place}/members`, { user_id: people.outsider.id, access_level: 5 });
  assert.equal((await as('outsider').get(place)).status, 200);
  assert.equal((await as('outsider').get(`${place}${body.url}`)).status, 403);
  assert.equal((await upload(here, 'outsider', place, 'b.txt')).status, 403);
  assert.equal((await fetchFrom(here, body.full_path, 'outsider')).status, 404);
});

test('uploads of one place are not found in another, nor with another name or secret', async () => {
  const here = await world({});
  const other = await world({});
  const [own] = places(here);
  const [foreign] = places(other);
  const { body } = await upload(here, 'guest', own!.place, 'a.txt');
  const wrong = [
    `${foreign!.place}${body.url}`,
    `${foreign!.place}/uploads/${body.id}`,
    `${own!.place}${body.url.replace('a.txt', 'b.txt')}`,
    `${own!.place}/uploads/${'0'.repeat(32)}/a.txt`,
    `${own!.place}/uploads/short/a.txt`,
    `${own!.place}/uploads/${'0'.repeat(32)}/..%2F..%2Fa.txt`,
  ];
  const admin = here.as('admin');
  for (const address of wrong) {
    assert.equal((await admin.get(address)).status, 404, address);
    assert.equal((await admin.delete(address)).status, 404, address);
  }
  assert.equal((await admin.get(`${own!.place}/uploads/word`)).body.error, 'upload_id is invalid');
  assert.equal((await admin.get(`${own!.place}${body.url}`)).status, 200);
});

test('names are made safe for paths, URLs and Markdown', async () => {
  const here = await world({});
  const place = `/projects/${here.project.id}`;
  const namesAndAlts: [string, string, string][] = [
    ['../../etc/passwd', 'passwd', '[passwd]'],
    ['grüße+1 (2)].jpeg', 'grüße+1__2__.jpeg', '![grüße+1__2__]'],
    ['...', '_...', '[_...]'],
    ['..', 'unnamed', '[unnamed]'],
    ['a.SVG', 'a.SVG', '![a]'],
    ['film.mp4', 'film.mp4', '![film]'],
    ['song.ogg', 'song.ogg', '![song]'],
    ['page.html', 'page.html', '[page.html]'],
    [`${'x'.repeat(300)}.webm`, `${'x'.repeat(250)}.webm`, `![${'x'.repeat(250)}]`],
  ];
  for (const [sent, stored, alt] of namesAndAlts) {
    const { body } = await upload(here, 'guest', place, sent);
    const [, , secret, name] = body.url.split('/');
    assert.deepEqual([name, body.markdown], [stored, `${alt}(/uploads/${secret}/${stored})`]);
    const address = `/api/v4${place}/uploads/${secret}/${encodeURIComponent(stored)}`;
    assert.equal((await fetchFrom(here, address, 'guest')).status, 200, stored);
  }
});

test('parts of a file are sent, and nothing when the client has it', async () => {
  const here = await world({});
  const place = `/projects/${here.project.id}`;
  const { body } = await upload(here, 'guest', place, 'digits.bin', '0123456789');
  const empty = (await upload(here, 'guest', place, 'empty', '')).body;
  const ask = async (headers: Record<string, string>, { url } = body) => {
    const answer = await fetchFrom(here, `/api/v4${place}${url}`, 'guest', headers);
    return [answer.status, await answer.text(), answer.headers.get('content-range')];
  };
  assert.deepEqual(await ask({ range: 'bytes=2-4' }), [206, '234', 'bytes 2-4/10']);
  assert.deepEqual(await ask({ range: 'bytes=7-' }), [206, '789', 'bytes 7-9/10']);
  assert.deepEqual(await ask({ range: 'bytes=-3' }), [206, '789', 'bytes 7-9/10']);
  assert.deepEqual(await ask({ range: 'bytes=-30' }), [206, '0123456789', 'bytes 0-9/10']);
  assert.deepEqual(await ask({ range: 'bytes=4-2' }), [200, '0123456789', null]);
  assert.deepEqual(await ask({ range: 'bytes=1-2,4-5' }), [200, '0123456789', null]);
  assert.deepEqual(await ask({ range: 'lines=1-2' }), [200, '0123456789', null]);
  for (const range of ['bytes=10-', 'bytes=-0']) {
    const [status, text, part] = await ask({ range });
    assert.deepEqual(
      [status, JSON.parse(text as string).message, part],
      [416, '416 Range Not Satisfiable', 'bytes */10'],
    );
  }
  assert.equal((await ask({ range: 'bytes=0-' }, empty))[0], 416);
  assert.deepEqual(await ask({}, empty), [200, '', null]);

  const etag = `"${createHash('sha256').update('0123456789').digest('hex')}"`;
  assert.deepEqual(await ask({ 'if-none-match': etag }), [304, '', null]);
  assert.equal((await ask({ 'if-none-match': '"other"' }))[0], 200);
  assert.equal((await ask({ range: 'bytes=0-1', 'if-range': etag }))[0], 206);
  assert.equal((await ask({ range: 'bytes=0-1', 'if-range': '"other"' }))[0], 200);
  const head = await fetch(`${here.url}/api/v4${place}${body.url}`, {
    method: 'HEAD',
    headers: { 'private-token': here.people.guest.token },
  });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '10']);
});

test('invalid, oversized and interrupted uploads are refused, and leave nothing behind', async (t) => {
  const here = await world({});
  const { as, db, services, project } = here;
  const place = `/projects/${here.project.id}`;
  const form = new FormData();
  form.append('file', 'text');
  for (const [answer, text] of [
    [await as('guest').post(`${place}/uploads`, { file: 'text' }), 'file is invalid'],
    [await as('guest').post(`${place}/uploads`, {}), 'file is missing'],
    [await as('guest').post(`${place}/uploads`, undefined, { raw: form }), 'file is invalid'],
  ] as const)
    assert.deepEqual([answer.status, answer.body.error, answer.body.message], [400, text, text]);

  t.after(() => db.updateTable('application_settings').set({ max_attachment_size: 100 }).execute());
  assert.equal(
    (await as('admin').put('/application/settings', { max_attachment_size: 1 })).body.max_attachment_size,
    1,
  );
  const mebibyte = new Uint8Array(1024 * 1024);
  assert.equal((await upload(here, 'guest', place, 'a.bin', mebibyte)).status, 201);
  const refused = await upload(here, 'guest', place, 'a.bin', new Uint8Array(mebibyte.length + 1));
  assert.deepEqual([refused.status, refused.body.message], [413, '413 Request Entity Too Large']);

  const received = () => readdir(path.join(path.dirname(services.storages.default!), 'blobs/.incoming'));
  const broken = http.request(`${here.url}/api/v4${place}/uploads`, {
    method: 'POST',
    headers: {
      'private-token': here.people.guest.token,
      'content-type': 'multipart/form-data; boundary=B',
      'content-length': '100000',
    },
  });
  broken.on('error', () => {});
  broken.write('--B\r\ncontent-disposition: form-data; name="file"; filename="half.bin"\r\n\r\nhalf');
  while ((await received()).length === 0);
  broken.destroy();
  while ((await received()).length > 0);
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::integer from uploads where project_id = ${project.id}`.execute(db);
  assert.equal(rows[0]!.count, 1);
  assert.deepEqual(await db.selectFrom('unused_blobs').select('key').execute(), []);
});

test('the uploads of a deleted project are collected, and those of a deleted user stay', async () => {
  const here = await world({});
  const { as, db, services, project, people } = here;
  const place = `/projects/${here.project.id}`;
  const { id } = (await upload(here, 'guest', place, 'a.txt')).body;
  await db.deleteFrom('users').where('id', '=', people.guest.id).execute();
  assert.equal((await as('maintainer').get(`${place}/uploads`)).body[0].uploaded_by, null);
  assert.equal((await as('owner').get(place, { statistics: true })).body.statistics.uploads_size, 7);

  const { blob_key } = (await rowOf(here, id))!;
  await as('owner').delete(place);
  await as('owner').delete(place, {
    permanently_remove: true,
    full_path: (await as('owner').get(place)).body.path_with_namespace,
  });
  await performQueued(services, [removeProject]);
  assert.equal((await db.selectFrom('projects').select('id').where('id', '=', project.id).execute()).length, 0);
  assert.ok(await isStored(here, blob_key));
  await performJob(services, removeUnusedBlobs);
  assert.ok(await isStored(here, blob_key), 'what may still be coming in stays');
  await db.updateTable('unused_blobs').set({ since: '2001-01-01T00:00:00Z' }).execute();
  await performJob(services, removeUnusedBlobs);
  assert.equal(await isStored(here, blob_key), false);
});

test('read-only projects and groups take no uploads and delete none', async () => {
  const here = await world({});
  const { as } = here;
  for (const { place, what } of places(here)) {
    const { body } = await upload(here, 'guest', place, 'a.txt');
    await as('owner').post(`${place}/archive`);
    const refused = await as('guest').post(`${place}/uploads`, undefined, { raw: fileForm('b.txt', 'b') });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, `403 Forbidden - The ${what.toLowerCase()} is archived.`],
    );
    assert.equal((await as('maintainer').delete(`${place}/uploads/${body.id}`)).status, 403);
    assert.equal((await as('guest').get(`${place}${body.url}`)).status, 200);
    await as('owner').post(`${place}/unarchive`);
  }
});
