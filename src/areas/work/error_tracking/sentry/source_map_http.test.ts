import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { reports, thrown } from '../../../../../test/support/error_tracking.ts';
import { performJob, performQueued } from '../../../../../test/support/jobs.ts';
import { fileUrl, onMain } from '../../../../../test/support/repository.ts';
import { type Persona, world } from '../../../../../test/support/world.ts';
import { zipOf } from '../../../../../test/support/zip.ts';
import { createToken } from '../../../people/personal_access_tokens/index.ts';
import { removeProject } from '../../../spaces/projects/index.ts';
import { unpackBundle } from '../source_maps/jobs.ts';

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');

const sources = ['../src/pick.ts'];
const map = JSON.stringify({
  version: 3,
  sources,
  names: ['pick'],
  sourcesContent: ['one\ntwo\nthree'],
  mappings: 'AACAA',
});

test('source maps are uploaded in chunks by developers, within limits, and are found by the debug id of their file', async () => {
  const here = await world();
  const { project, people, db } = here;
  const { errors, report } = await reports(here);
  const tokenOf = async (persona: Exclude<Persona, 'anonymous'>) =>
    (await createToken(db, { user_id: people[persona].id, name: 'cli', scopes: ['api'], expires_at: null })).value;
  const tokens = {
    developer: await tokenOf('developer'),
    maintainer: await tokenOf('maintainer'),
    reporter: await tokenOf('reporter'),
  };
  const org = project.full_path.split('/')[0]!;
  const at = `${here.url}/api/0/organizations/${org}`;
  const ask = async (by: keyof typeof tokens | undefined, method: string, path: string, body?: object) => {
    const isForm = body instanceof FormData;
    const reply = await fetch(`${at}${path}`, {
      method,
      headers: {
        ...(by ? { authorization: `Bearer ${tokens[by]}` } : {}),
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: replies of many forms.
    return { status: reply.status, body: (await reply.json()) as any };
  };
  const send = (by: keyof typeof tokens | undefined, bytes: Buffer, name = sha1(bytes), field = 'file') => {
    const form = new FormData();
    form.set(field, new Blob([Uint8Array.from(bytes)]), name);
    return ask(by, 'POST', '/chunk-upload/', form);
  };
  const assemble = (by: keyof typeof tokens, bytes: Buffer, more: object = {}) =>
    ask(by, 'POST', '/artifactbundle/assemble/', {
      checksum: sha1(bytes),
      chunks: [sha1(bytes)],
      projects: [String(project.id)],
      ...more,
    });
  const chunks = async () => (await db.selectFrom('error_tracking_chunks').select('size_bytes').execute()).length;

  assert.equal((await ask(undefined, 'GET', '/chunk-upload/')).status, 401);
  assert.equal((await ask('reporter', 'GET', '/chunk-upload/')).status, 403);
  const options = (await ask('developer', 'GET', '/chunk-upload/')).body;
  assert.deepEqual(
    [options.hashAlgorithm, options.chunkSize, options.maxFileSize],
    ['sha1', 8 * 2 ** 20, 64 * 2 ** 20],
  );

  const debug_id = randomUUID();
  const manifest = { files: { 'a.map': { type: 'source_map', url: '~/a.js.map', headers: { 'Debug-Id': debug_id } } } };
  const bundle = zipOf({ 'manifest.json': JSON.stringify(manifest), 'a.map': map });
  for (const [by, expected] of [
    [undefined, 401],
    ['reporter', 403],
  ] as const)
    assert.equal((await send(by, bundle)).status, expected);
  assert.equal((await send('developer', bundle, sha1(Buffer.from('another')))).status, 400);
  assert.equal((await send('developer', bundle, 'name')).status, 400);
  assert.equal(
    (await send('developer', gzipSync(Buffer.alloc(8 * 2 ** 20 + 1)), sha1(bundle), 'file_gzip')).status,
    400,
    'a bomb',
  );
  assert.equal((await send('developer', Buffer.alloc(9 * 2 ** 20))).status, 413);
  assert.equal(await chunks(), 0);

  assert.deepEqual((await assemble('developer', bundle)).body, {
    state: 'not_found',
    missingChunks: [sha1(bundle)],
    detail: null,
  });
  assert.equal((await send('developer', gzipSync(bundle), sha1(bundle), 'file_gzip')).status, 200);
  assert.equal((await send('developer', bundle)).status, 200);
  assert.equal(await chunks(), 1);
  assert.equal((await assemble('maintainer', bundle)).body.state, 'not_found', 'chunks are those of their user');
  assert.equal((await assemble('reporter', bundle)).status, 403);
  for (const bad of [
    { projects: [] },
    { projects: 'a' },
    { checksum: 'x' },
    { chunks: [] },
    { chunks: Array(9).fill(sha1(bundle)) },
    { version: '' },
  ])
    assert.equal((await assemble('developer', bundle, bad)).status, 400, JSON.stringify(bad));
  assert.equal((await assemble('developer', bundle, { projects: ['0'] })).status, 404);
  assert.equal((await assemble('developer', bundle)).body.state, 'created');
  await performQueued(here.services, [unpackBundle]);
  assert.equal((await assemble('developer', bundle)).body.state, 'ok');
  assert.equal(await chunks(), 0);

  // What cannot be unpacked says why, and leaves nothing.
  const broken: [Buffer, RegExp][] = [
    [Buffer.from('no archive at all, but long enough to look'), /no directory/],
    [bundle.subarray(30), /damaged|no directory/],
    [zipOf({ 'a.map': map }), /no manifest/],
    [zipOf({ 'manifest.json': '{' }), /not JSON/],
    [zipOf({ 'manifest.json': JSON.stringify(manifest), 'a.map': Buffer.alloc(33 * 2 ** 20) }), /too large/],
  ];
  for (const [bytes, reason] of broken) {
    await send('developer', bytes);
    assert.equal((await assemble('developer', bytes)).body.state, 'created');
    await performQueued(here.services, [unpackBundle]);
    const { body } = await assemble('developer', bytes);
    assert.equal(body.state, 'error');
    assert.match(body.detail, reason);
  }
  assert.equal((await db.selectFrom('error_tracking_source_maps').select('id').execute()).length, 1);

  const frame = { filename: 'app:///a.js', function: 'p', lineno: 1, colno: 1 };
  const at2 = [frame, { ...frame, lineno: 7_000_000 }, { ...frame, colno: -1 }, { ...frame, filename: 'app:///b.js' }];
  const images = [{ type: 'sourcemap', code_file: 'app:///a.js', debug_id: debug_id.toUpperCase() }, null, { type: 1 }];
  await report(
    thrown('A', 'a', { exception: { values: [{ type: 'A', stacktrace: { frames: at2 } }] }, debug_meta: { images } }),
  );
  const [error] = (await here.as('reporter').get(errors)).body;
  const { body } = await here.as('reporter').get(`${errors}/${error.id}/events/latest`);
  const [first, ...others] = body.stack_trace_entries;
  assert.deepEqual([first.filename, first.lineNo, first.minified.lineNo], ['../src/pick.ts', 2, 1]);
  assert.deepEqual(first.context, [
    [1, 'one'],
    [2, 'two'],
    [3, 'three'],
  ]);
  assert.deepEqual(
    others.map(({ minified }: { minified: unknown }) => minified),
    [null, null, null],
  );
  for (const path of ['events/latest/', 'events/']) {
    const reply = await fetch(`${here.url}/api/0/issues/${error.id}/${path}`, {
      headers: { authorization: `Bearer ${tokens.reporter}` },
    });
    // biome-ignore lint/suspicious/noExplicitAny: one event, or a list.
    const [event] = [(await reply.json()) as any].flat();
    const [shown, other] = event.entries[0].data.values[0].stacktrace.frames;
    assert.deepEqual([shown.filename, shown.lineNo, shown.context], ['../src/pick.ts', 2, first.context], path);
    assert.deepEqual([other.filename, other.lineNo], ['app:///a.js', 7_000_000], path);
  }
});

test('a transferred project keeps errors, releases, source maps and keys, for its new members only, and is deleted in batches', async () => {
  const here = await world();
  const { project, people, db, as } = here;
  const { errors, report } = await reports(here);
  const keys = `/projects/${project.id}/error_tracking/client_keys`;
  const tokenOf = async (user_id: number) =>
    (await createToken(db, { user_id, name: 'cli', scopes: ['api'], expires_at: null })).value;
  const ask = async (token: string, method: string, path: string, body?: FormData | string) => {
    const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const headers = { authorization: `Bearer ${token}`, ...type };
    const reply = await fetch(`${here.url}/api/0${path}`, { method, headers, ...(body ? { body } : {}) });
    // biome-ignore lint/suspicious/noExplicitAny: replies of many forms.
    return { status: reply.status, body: (await reply.json()) as any };
  };
  const developer = await tokenOf(people.developer.id);
  const org = `/organizations/${project.full_path.split('/')[0]!}`;
  const named = { projects: [String(project.id)], version: 'shop@1' };
  assert.equal((await ask(developer, 'POST', `${org}/releases/`, JSON.stringify(named))).status, 201);
  const bundle = zipOf({
    'manifest.json': JSON.stringify({ files: { 'a.map': { type: 'source_map', url: '~/a.js.map' } } }),
    'a.map': map,
  });
  const form = new FormData();
  form.set('file', new Blob([Uint8Array.from(bundle)]), sha1(bundle));
  assert.equal((await ask(developer, 'POST', `${org}/chunk-upload/`, form)).status, 200);
  const checksums = { checksum: sha1(bundle), chunks: [sha1(bundle)] };
  await ask(developer, 'POST', `${org}/artifactbundle/assemble/`, JSON.stringify({ ...named, ...checksums }));
  await performQueued(here.services, [unpackBundle]);
  const frames = [{ filename: 'a.js', abs_path: 'https://shop.example/a.js', function: 'p', lineno: 1, colno: 1 }];
  const event = { release: 'shop@1', exception: { values: [{ type: 'A', value: 'a', stacktrace: { frames } }] } };
  await report(event);
  const { body: before } = await as('owner').get(keys);
  const [error] = (await as('reporter').get(errors)).body;

  const path = `errors-${here.group.id}`;
  const { body: there } = await as('owner').post('/groups', { name: path, path });
  const newcomer = await here.person();
  await as('owner').post(`/groups/${there.id}/members`, { user_id: newcomer.id, access_level: 20 });
  assert.notEqual((await newcomer.client.get(errors)).status, 200);
  assert.equal((await as('owner').put(`/projects/${project.id}/transfer`, { namespace: there.id })).status, 200);
  await report(event);
  const { body: moved } = await newcomer.client.get(errors);
  assert.deepEqual([moved.length, moved[0].id, moved[0].name, moved[0].events_count], [1, error.id, 'A', 2]);
  const [frame] = (await newcomer.client.get(`${errors}/${error.id}/events/oldest`)).body.stack_trace_entries;
  assert.deepEqual([frame.filename, frame.lineNo, frame.minified.lineNo], ['../src/pick.ts', 2, 1]);
  assert.deepEqual((await as('owner').get(keys)).body, before);
  const releases = `/projects/${path}/${project.id}/releases/`;
  assert.deepEqual((await ask(await tokenOf(newcomer.id), 'GET', releases)).body[0].version, 'shop@1');
  for (const refused of [
    await as('reporter').get(errors),
    await as('maintainer').get(keys),
    await ask(developer, 'GET', releases),
  ])
    assert.equal(refused.status, 404);

  // More than one statement deletes.
  await sql`
    with added as (
      insert into error_tracking_errors (project_id, fingerprint, platform, level, first_seen_at, last_seen_at)
      select ${project.id}, number::text, 'other', 'error', now(), now() from generate_series(1, 101) number returning id, project_id
    )
    insert into error_tracking_error_texts select id, project_id, '', '', '' from added`.execute(db);
  await sql`
    insert into error_tracking_error_users
    select ${error.id}, uuid_send(gen_random_uuid()) from generate_series(1, 5001)`.execute(db);
  const left = async () => {
    const tables = ['errors', 'error_texts', 'events', 'client_keys', 'versions', 'bundles', 'source_maps'].map(
      (name) => sql`select project_id from ${sql.table(`error_tracking_${name}`)} where project_id = ${project.id}`,
    );
    const users = sql`select error_id from error_tracking_error_users where error_id = ${error.id}`;
    return (await sql`${sql.join([...tables, users], sql` union all `)}`.execute(db)).rows.length;
  };
  assert.ok((await left()) > 5203);
  assert.equal((await as('owner').delete(`/projects/${project.id}`)).status, 202);
  await performJob(here.services, removeProject, { project_id: project.id });
  assert.equal(await left(), 0);
});

test('source maps committed beside a file are read at the commit of the release, and damaged ones are ignored', async () => {
  const here = await world();
  const { project, as } = here;
  const { errors, report } = await reports(here);
  for (const [name, content] of [
    ['dist/a.js', 'x'],
    ['dist/a.js.map', `)]}'\n${map}`],
    ['dist/b.js', 'x'],
    ['dist/b.js.map', '{"version":3,"mappings":7}'],
    ['src/pick.ts', 'one\ntwo\nthree\n'],
  ] as const)
    assert.equal((await as('maintainer').post(fileUrl(project, name), { ...onMain, content })).status, 201);
  const [{ id: sha }] = (await as('reporter').get(`/projects/${project.id}/repository/commits`)).body;
  const frames = ['dist/a.js', './dist/b.js'].map((filename) => ({ filename, function: 'p', lineno: 1, colno: 1 }));
  await report(
    thrown('A', 'a', { release: `shop@${sha}`, exception: { values: [{ type: 'A', stacktrace: { frames } }] } }),
  );
  const [error] = (await as('reporter').get(errors)).body;
  const { body } = await as('reporter').get(`${errors}/${error.id}/events/latest`);
  const [mapped, unmapped] = body.stack_trace_entries;
  assert.deepEqual([mapped.filename, mapped.lineNo, mapped.source.file_path], ['../src/pick.ts', 2, 'src/pick.ts']);
  assert.equal(mapped.blame.commit_id, sha);
  assert.deepEqual(
    [unmapped.filename, unmapped.minified, unmapped.source.file_path],
    ['./dist/b.js', null, 'dist/b.js'],
  );
  const { body: entries } = await as('reporter').get(`/projects/${project.id}/repository/tree`, { path: 'dist' });
  const { id } = entries.find(({ name }: { name: string }) => name === 'b.js.map');
  const note = here.db.selectFrom('costly_files').select('error').where('content', '=', `source map ${id}`);
  assert.deepEqual(await note.execute(), [{ error: 'It cannot be read.' }], 'it is not read again');
});

test('a source map that was too costly is not read again, and other maps are', async (t) => {
  const here = await world();
  const { project, as, db } = here;
  const { errors, report } = await reports(here);
  const post = Worker.prototype.postMessage;
  let tries = 0;
  // What the thread reports when a map takes more memory than it may have: such a map would take the test seconds.
  t.mock.method(
    Worker.prototype,
    'postMessage',
    function (this: Worker, asked: { bytes?: Uint8Array }, moved: ArrayBuffer[]) {
      if (!asked.bytes || !Buffer.from(asked.bytes).includes('too costly')) return post.call(this, asked, moved);
      tries += 1;
      setImmediate(() => this.emit('error', Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })));
    },
  );
  for (const [name, content] of [
    ['a.js', 'x'],
    ['a.js.map', map],
    ['b.js', 'x'],
    ['b.js.map', JSON.stringify({ version: 3, sources: ['too costly'], mappings: '' })],
  ] as const)
    assert.equal((await as('maintainer').post(fileUrl(project, name), { ...onMain, content })).status, 201);
  const [{ id: sha }] = (await as('reporter').get(`/projects/${project.id}/repository/commits`)).body;
  const frames = ['b.js', 'a.js'].map((filename) => ({ filename, function: 'p', lineno: 1, colno: 1 }));
  await report(thrown('A', 'a', { release: sha, exception: { values: [{ type: 'A', stacktrace: { frames } }] } }));
  const [error] = (await as('reporter').get(errors)).body;
  for (const _reading of [1, 2]) {
    const { body } = await as('reporter').get(`${errors}/${error.id}/events/latest`);
    assert.deepEqual(
      body.stack_trace_entries.map(({ filename }: Record<string, string>) => filename),
      ['b.js', '../src/pick.ts'],
    );
  }
  assert.equal(tries, 1);
  const notes = await db
    .selectFrom('costly_files')
    .select('error')
    .where('error', 'like', 'Reading it takes%')
    .execute();
  assert.deepEqual(notes, [{ error: 'Reading it takes too much memory.' }]);
});
