import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileUrl } from '../support/repository.ts';
import { fileForm } from '../support/uploads.ts';
import { coppice, dataFolder, folder, oneCall, rootToken, type Server, serve, start } from './coppice.ts';
import { addLargeFile, large } from './large_file.ts';

const onMain = { branch: 'main', commit_message: 'Change a file' };

async function made(server: Server, address: string, parameters: object) {
  const { status, body } = await server.root.post(address, { ...parameters });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** People, groups, projects and histories, and the addresses under which they are seen. */
async function fill(server: Server): Promise<{ addresses: string[]; busy: { id: number }; apples: { id: number } }> {
  const user = await made(server, '/users', {
    username: 'ada',
    name: 'Ada',
    email: 'ada@example.com',
    password: 'correct horse 1',
  });
  const group = await made(server, '/groups', { name: 'Orchard', path: 'orchard', visibility: 'public' });
  const below = await made(server, '/groups', { name: 'Trees', path: 'trees', parent_id: group.id });
  await made(server, `/groups/${group.id}/members`, { user_id: user.id, access_level: 30, expires_at: '2093-01-02' });
  const readme = { initialize_with_readme: true };
  const apples = await made(server, '/projects', {
    name: 'Äpfel',
    path: 'apples',
    namespace_id: below.id,
    description: 'a\tb\\n\n☃',
    ...readme,
  });
  const sha256 = await made(server, '/projects', { name: 'large', repository_object_format: 'sha256', ...readme });
  const empty = await made(server, '/projects', { name: 'empty', default_branch: 'trunk' });
  const busy = await made(server, '/projects', { name: 'busy', ...readme });
  await made(server, fileUrl(apples, 'a/b c.txt'), { ...onMain, content: 'one\n' });
  await made(server, `/projects/${apples.id}/repository/branches`, { branch: 'side', ref: 'main' });
  await made(server, `/projects/${apples.id}/freeze_periods`, { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1' });
  const files = [
    { file_path: 'b.txt', content: 'bees\n' },
    { file_path: 'a.txt', content: 'apples\n' },
  ];
  const snippet = await made(server, `/projects/${apples.id}/snippets`, { title: 'Fruit', files });
  const personal = await made(server, '/snippets', { title: 'Mine', files });
  const places = [`/projects/${apples.id}`, `/groups/${group.id}`];
  for (const place of places)
    await made(server, `${place}/wikis`, { title: 'fruit/Home', content: `Apples of ${place}` });
  const uploads = `/projects/${apples.id}/uploads`;
  const uploaded = await server.root.post(uploads, undefined, { raw: fileForm('notes.txt', 'the notes of a meeting') });
  assert.equal(uploaded.status, 201);
  await made(server, fileUrl(apples, 'd.txt'), {
    ...onMain,
    branch: 'proposed',
    start_branch: 'main',
    content: 'dates\n',
  });
  const proposal = { title: 'Dates', source_branch: 'proposed', target_branch: 'main', description: 'For the winter' };
  const { diff_refs } = await made(server, `/projects/${apples.id}/merge_requests`, proposal);
  const position = { ...diff_refs, position_type: 'text', new_path: 'd.txt', new_line: 1 };
  const body = '```suggestion\nfigs\n```';
  await made(server, `/projects/${apples.id}/merge_requests/1/discussions`, { body, position });
  await collectErrors(server, apples);
  const projects = [apples, sha256].flatMap(({ id }) =>
    [
      ...[
        '',
        '/members/all',
        '/freeze_periods',
        '/repository/branches',
        '/repository/branches/main',
        '/repository/commits',
      ],
      ...[
        '/repository/commits/main',
        '/repository/commits/main/diff',
        `/repository/files/${encodeURIComponent('README.md')}?ref=main`,
      ],
      '/repository/files/README.md/raw?ref=main',
    ].map((rest) => `/projects/${id}${rest}`),
  );
  const addresses = [
    ...[
      '/user',
      '/users',
      `/users/${user.id}`,
      '/personal_access_tokens',
      '/namespaces',
      '/groups',
      '/version',
      '/metadata',
    ],
    ...['', '/members', '/members/all', '/projects', '/subgroups'].map((rest) => `/groups/${group.id}${rest}`),
    ...[
      `/groups/${below.id}`,
      `/groups/${below.id}/projects`,
      `/projects/${empty.id}`,
      `/projects/${empty.id}/repository/branches`,
    ],
    ...projects,
    ...[uploads, `${uploads}/${uploaded.body.id}`],
    ...['/settings', '/client_keys', '/releases_health'].map((rest) => `/projects/${apples.id}/error_tracking${rest}`),
    ...['/commits', '/diffs', '/discussions', '/notes', '/reviewers'].map(
      (rest) => `/projects/${apples.id}/merge_requests/1${rest}`,
    ),
    ...['', '/raw', '/files/main/b.txt/raw'].flatMap((rest) => [
      `/projects/${apples.id}/snippets/${snippet.id}${rest}`,
      `/snippets/${personal.id}${rest}`,
    ]),
    ...places.flatMap((place) => [`${place}/wikis`, `${place}/wikis/fruit%2FHome`]),
    ...['/repository/files/a%2Fb%20c.txt/blame?ref=side', '/repository/files/a%2Fb%20c.txt?ref=side'].map(
      (rest) => `/projects/${apples.id}${rest}`,
    ),
  ];
  return { addresses, busy, apples };
}

/** Sends an event and a session with the client key of a project. */
async function sendError({ url, root }: Server, { id }: { id: number }): Promise<void> {
  const [{ public_key }] = (await root.get(`/projects/${id}/error_tracking/client_keys`)).body;
  const session = { sid: '1'.repeat(32), status: 'exited', attrs: { release: 'orchard@1' } };
  const lines = [{}, { type: 'event' }, { message: 'no apples' }, { type: 'session' }, session];
  const reply = await fetch(`${url}/api/v4/error_tracking/collector/api/${id}/envelope/?sentry_key=${public_key}`, {
    method: 'POST',
    headers: oneCall,
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  assert.equal(reply.status, 200);
}

async function collectErrors(server: Server, project: { id: number }): Promise<void> {
  const { status } = await server.root.put(`/projects/${project.id}/error_tracking/settings`, {
    active: true,
    integrated: true,
  });
  assert.equal(status, 200);
  await sendError(server, project);
}

/** One after the other: a busy machine refuses some of many at once. */
async function answers(server: Server, addresses: string[]) {
  const all: { address: string; status: number; body: unknown }[] = [];
  for (const address of addresses) {
    const { status, body } = await server.root.get(address);
    all.push({ address, status, body });
  }
  return all;
}

/** Without what changes by itself: the last use of the token that asks, and sizes, which a job measures some time after a push. */
const still = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (name, member) =>
      name.startsWith('last_used') || name === 'last_activity_on' || name === 'root_repository_size'
        ? undefined
        : member,
    ),
  );

/** Commits until it is told to stop, and gives the last one. */
function keepBusy(server: Server, project: { id: number }) {
  let isOver = false;
  const last = (async () => {
    for (let number = 0; ; number++) {
      await made(server, fileUrl(project, `${number}.txt`), { ...onMain, content: String(number) });
      if (isOver) return number;
    }
  })();
  return async () => {
    isOver = true;
    return await last;
  };
}

/** Kills a restore when it has begun to write repositories. */
async function killRestore(file: string, target: { COPPICE_DATA: string }): Promise<void> {
  const child = start(['restore', '--from', file], target);
  const ended = once(child, 'exit');
  const repositories = path.join(target.COPPICE_DATA, 'repositories');
  while (!(existsSync(repositories) && readdirSync(repositories).length > 0)) await sleep(1);
  child.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
}

test('a backup taken during pushes is restored to a consistent server with the same replies', async () => {
  const source = { COPPICE_DATA: await dataFolder() };
  const server = await serve(source);
  const { addresses, busy, apples } = await fill(server);
  const { address, authorization } = await addLargeFile(server, 'orchard/trees/apples');
  const file = path.join(await folder(), 'backup.tar.zst');
  const stopPushing = keepBusy(server, busy);
  const made = await coppice(['backup', '--to', file], source);
  assert.deepEqual([made.code, made.err], [0, '']);
  await stopPushing();
  assert.equal((await coppice(['backup', '--to', file], source)).code, 1, 'it overwrites nothing');
  const before = await answers(server, addresses);
  assert.deepEqual(
    before.filter(({ status }) => status !== 200),
    [],
  );
  assert.equal(await server.stop(), 0);

  const target = { COPPICE_DATA: path.join(await folder(), 'data') };
  const damaged = path.join(await folder(), 'damaged.tar.zst');
  const whole = await readFile(file);
  const changed = (at: number) =>
    Buffer.concat([whole.subarray(0, at), Buffer.from([whole[at]! ^ 0xff]), whole.subarray(at + 1)]);
  const damages = [whole.subarray(0, -100), whole.subarray(0, 40), changed(whole.length >> 1)];
  for (const content of damages) {
    await writeFile(damaged, content);
    const refused = await coppice(['restore', '--from', damaged], target);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /is damaged.*Nothing was restored\.\n$/);
    assert.equal(existsSync(target.COPPICE_DATA), false, 'nothing is left of a restoration that failed');
  }
  const withKey = { ...target, COPPICE_SECRET_KEY: 'another key than the one of that server' };
  const otherKey = await coppice(['restore', '--from', file], withKey);
  assert.deepEqual(
    [otherKey.code, /^The backup was made with another secret key/.test(otherKey.err)],
    [1, true],
    otherKey.err,
  );
  assert.equal(existsSync(target.COPPICE_DATA), false);

  await killRestore(file, target);
  const unfinished = await coppice(['check'], target);
  assert.deepEqual([unfinished.code, /did not finish/.test(unfinished.err)], [1, true], unfinished.err);
  const restored = await coppice(['restore', '--from', file], target);
  assert.deepEqual([restored.code, restored.err], [0, '']);
  const [key, keyThere] = [source, target].map(({ COPPICE_DATA }) =>
    readFile(path.join(COPPICE_DATA, 'secret.key'), 'utf8'),
  );
  assert.equal(await keyThere, await key);
  const again = await coppice(['restore', '--from', file], target);
  assert.deepEqual([again.code, /is not empty/.test(again.err)], [1, true]);
  const checked = await coppice(['check'], target);
  assert.deepEqual([checked.code, checked.out], [0, 'No problems found.\n']);

  await rm(path.join(target.COPPICE_DATA, 'secret.key'));
  const keyless = await coppice(['check'], target);
  assert.deepEqual([keyless.code, /secret\.key is missing/.test(keyless.err)], [1, true], keyless.err);
  await writeFile(path.join(target.COPPICE_DATA, 'secret.key'), await key!);

  const heir = await serve({ ...target, COPPICE_ROOT_TOKEN: `${rootToken}-other` });
  const after = await answers(heir, addresses);
  for (const [index, answer] of before.entries()) assert.deepEqual(still(after[index]), still(answer));
  // The credential is still good, so the key that signed it was restored, and not one of the new server's own.
  const download = await fetch(heir.url + address, { headers: { ...oneCall, authorization } });
  assert.deepEqual([download.status, await download.text()], [200, large]);
  const commits = await heir.root.get(`/projects/${busy.id}/repository/commits`);
  assert.equal(commits.status, 200);
  const next = await heir.root.post('/projects', { name: 'next' });
  assert.equal(next.status, 201, 'numbers go on where they were');
  // A push that the backup has not seen settled is recorded by the new server too.
  const ids: number[] = (await heir.root.get('/events', { per_page: 20 })).body.map(({ id }: { id: number }) => id);
  const isAhead = ids.some((id, place) => id > (ids[place + 1] ?? id) + 10_000_000);
  assert.ok(isAhead, 'clients that poll may have seen events that the backup does not have');
  await sendError(heir, apples);
  const [health] = (await heir.root.get(`/projects/${apples.id}/error_tracking/releases_health`)).body;
  assert.equal(health.exited, 1, 'the session was known');
  assert.equal(await heir.stop(), 0);
});

test('what a running server has lost comes back from a backup, one repository or file at a time', async () => {
  const source = { COPPICE_DATA: await dataFolder() };
  const server = await serve(source);
  const apples = await made(server, '/projects', { name: 'apples', initialize_with_readme: true });
  const address = `/projects/${apples.id}`;
  for (const branch of ['side', 'gone']) await made(server, `${address}/repository/branches`, { branch, ref: 'main' });
  const kept = (await server.root.get(`${address}/repository/branches/main`)).body.commit.id;
  await made(server, `${address}/wikis`, { title: 'Home', content: 'Apples' });
  const { body: upload } = await server.root.post(`${address}/uploads`, undefined, {
    raw: fileForm('notes.txt', 'the notes'),
  });
  const below = path.join(source.COPPICE_DATA, 'blobs/uploads');
  const [name] = (await readdir(below, { recursive: true })).filter((each) => /^..\/..\/./.test(each));
  const notes = path.join(below, name!);
  const file = path.join(await folder(), 'backup.tar.zst');
  assert.equal((await coppice(['backup', '--to', file], source)).code, 0);

  assert.equal((await server.root.delete(`${address}/repository/branches/gone`)).status, 204);
  await made(server, fileUrl(apples, 'late.txt'), { ...onMain, content: 'late\n' });
  const lost = (await server.root.get(`${address}/repository/branches/main`)).body.commit.id;
  await rm(notes);
  const incomplete = await coppice(['backup', '--to', path.join(await folder(), 'incomplete.tar.zst')], source);
  assert.deepEqual(
    [incomplete.code, incomplete.err],
    [
      3,
      `${notes} is missing; a row of uploads refers to it.\nWarning: 1 file is missing and therefore not in the backup. If an older backup has it, get it with \`restore --from FILE --only PATH\`.\n`,
    ],
  );
  const repositories = path.join(source.COPPICE_DATA, 'repositories');
  for (const kind of ['@hashed', '@wikis']) await rm(path.join(repositories, kind), { recursive: true });
  const found = await coppice(['check'], source);
  assert.deepEqual(
    [found.code, found.out.includes(notes), /there is no repository at/.test(found.out)],
    [1, true, true],
    found.out,
  );

  const restore = (part: string) => coppice(['restore', '--from', file, '--only', part], source);
  const restored = await restore('root/apples');
  assert.deepEqual(
    [restored.code, restored.err, restored.out.split('\n').sort()],
    [
      0,
      '',
      [
        '',
        'The branch gone was deleted after the backup and stays so; it was at '.concat(`${kept}.`),
        `The branch main is at ${kept}, as in the backup.`,
        `The branch side is at ${kept}, where the last push left it.`,
        'The objects of root/apples are restored.',
      ],
    ],
    lost,
  );
  const wiki = await restore('root/apples.wiki');
  assert.deepEqual(
    [wiki.code, wiki.err, /The objects of root\/apples\.wiki are restored\./.test(wiki.out)],
    [0, '', true],
    wiki.out,
  );
  assert.equal((await server.root.get(`${address}/wikis/Home`)).body.content, 'Apples');
  assert.equal((await restore(notes)).out, `${notes} is restored, with 9 bytes.\n`);
  const branches = (await server.root.get(`${address}/repository/branches`)).body;
  assert.deepEqual(
    branches.map(({ name: branch, commit }: { name: string; commit: { id: string } }) => [branch, commit.id]),
    [
      ['main', kept],
      ['side', kept],
    ],
  );
  assert.equal((await server.root.get(`${address}/uploads/${upload.id}`)).status, 200);
  await made(server, fileUrl(apples, 'next.txt'), { ...onMain, content: 'next\n' });
  const next = (await server.root.get(`${address}/repository/branches/main`)).body.commit.id;
  assert.equal((await restore('root/apples')).code, 0);
  assert.equal(
    (await server.root.get(`${address}/repository/branches/main`)).body.commit.id,
    next,
    'what is there stays',
  );
  const checked = await coppice(['check'], source);
  assert.deepEqual([checked.code, checked.out], [0, 'No problems found.\n']);
  const nothing = await restore('root/pears');
  assert.deepEqual(
    [nothing.code, /^There is no project, snippet or wiki root\/pears/.test(nothing.err)],
    [1, true],
    nothing.err,
  );
  assert.equal(await server.stop(), 0);
});

test('a file that is not a backup is refused', async () => {
  const file = path.join(await folder(), 'notes.txt');
  await writeFile(file, 'milk\n');
  const { code, err } = await coppice(['restore', '--from', file], { COPPICE_DATA: path.join(await folder(), 'data') });
  assert.equal(code, 1);
  assert.match(err, /is no backup of Coppice/);
});
