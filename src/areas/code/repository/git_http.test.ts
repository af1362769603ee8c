// Runs in a process of its own: one test measures memory while hundreds of megabytes are pushed.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type GitClient, gitClient, remoteOf } from '../../../../test/support/git.ts';
import { headOf as rawHead, rawSocket } from '../../../../test/support/raw_socket.ts';
import { fileUrl, filledWorld, headOf, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { levels } from '../../../access/index.ts';
import { countObjects, gitLoad } from '../../../git/index.ts';

const remoteFor = ({ url, project, people }: World, persona: Persona) =>
  remoteOf(url, project.full_path, people[persona].token);
const openRows = ({ db, project }: World) =>
  db.selectFrom('reference_updates').select('id').where('project_id', '=', project.id).execute();
const projectRow = ({ db, project }: World) =>
  db
    .selectFrom('projects')
    .select(['default_branch', 'empty_repo'])
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();

/** A clone in the folder `work`, made by a persona. */
async function cloned(here: World, persona: Persona): Promise<GitClient> {
  const client = await gitClient();
  const { code, stderr } = await client.run(['clone', '-q', remoteFor(here, persona), 'work']);
  assert.equal(code, 0, stderr);
  return client;
}

async function commitFile({ run, folder }: GitClient, name: string, content: string | Buffer): Promise<string> {
  await mkdir(path.dirname(path.join(folder, 'work', name)), { recursive: true });
  await writeFile(path.join(folder, 'work', name), content);
  await run(['add', '--', name], { at: 'work' });
  await run(['commit', '-q', '-m', `Add ${name}`], { at: 'work' });
  return (await run(['rev-parse', 'HEAD'], { at: 'work' })).stdout.trim();
}

const push = (client: GitClient, ...refs: string[]) => client.run(['push', 'origin', ...refs], { at: 'work' });

/** Asks as a git client does, without one. */
function ask(
  here: World,
  address: string,
  { token, user = 'git', ...options }: RequestInit & { token?: string; user?: string } = {},
) {
  const authorization =
    token === undefined ? {} : { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` };
  return fetch(`${here.url}/${address}`, {
    redirect: 'manual',
    ...options,
    headers: { ...options.headers, ...authorization },
  });
}

const accessDenied = /^HTTP Basic: Access denied\./;

test('the first push fills a project, sets its default branch, and can be cloned', async () => {
  const here = await world();
  const client = await cloned(here, 'owner');
  await client.run(['checkout', '-q', '-b', 'trunk'], { at: 'work' });
  const id = await commitFile(client, 'docs/read me.md', 'hello\n');
  const pushed = await push(client, 'trunk', 'trunk:side');
  assert.equal(pushed.code, 0, pushed.stderr);

  assert.equal(await headOf(here, 'trunk'), id);
  const after = await projectRow(here);
  assert.deepEqual([after.default_branch, after.empty_repo], ['trunk', false]);
  assert.deepEqual(await openRows(here), []);

  const other = await cloned(here, 'reporter');
  assert.equal((await other.run(['symbolic-ref', '--short', 'HEAD'], { at: 'work' })).stdout, 'trunk\n');
  assert.equal(await readFile(path.join(other.folder, 'work/docs/read me.md'), 'utf8'), 'hello\n');
  const read = await here.as('reporter').get(fileUrl(here.project, 'docs/read me.md'), { ref: 'side' });
  assert.equal(read.body.commit_id, id);
});

test('the configured default branch stays if the first push contains it', async () => {
  const here = await world();
  const client = await cloned(here, 'owner');
  await commitFile(client, 'a', 'a');
  await push(client, 'HEAD:aaa', 'HEAD:main');
  assert.deepEqual(Object.values(await projectRow(here)), ['main', false]);
});

test('a small push is unpacked into loose objects, and a large one stays a pack', async () => {
  const here = await world();
  const client = await cloned(here, 'owner');
  await commitFile(client, 'small', 'x');
  assert.equal((await push(client, 'HEAD:main')).code, 0);
  assert.equal((await countObjects(repositoryIn(here))).packs, 0);
  await commitFile(client, 'large', randomBytes(2 * 1024 * 1024));
  assert.equal((await push(client, 'HEAD:main')).code, 0);
  assert.equal((await countObjects(repositoryIn(here))).packs, 1);
});

test('a tag alone leaves the repository without a default branch', async () => {
  const here = await world();
  const client = await cloned(here, 'owner');
  await commitFile(client, 'a', 'a');
  assert.equal((await push(client, 'HEAD:refs/tags/v1')).code, 0);
  assert.deepEqual(Object.values(await projectRow(here)), ['main', true]);
});

test('shallow and partial clones work, and git speaks protocol 2', async () => {
  const here = await filledWorld();
  await here.as('maintainer').put(fileUrl(here.project, 'README.md'), { ...onMain, content: 'two\n' });
  const { run } = await gitClient();
  const remote = remoteFor(here, 'reporter');

  const traced = await run(['clone', '-q', '--depth', '1', remote, 'shallow'], { env: { GIT_TRACE_PACKET: '1' } });
  assert.equal(traced.code, 0, traced.stderr);
  assert.match(traced.stderr, /< version 2/);
  assert.equal((await run(['rev-list', '--count', 'HEAD'], { at: 'shallow' })).stdout, '1\n');
  assert.equal((await run(['fetch', '-q', '--unshallow'], { at: 'shallow' })).code, 0);
  assert.equal((await run(['rev-list', '--count', 'HEAD'], { at: 'shallow' })).stdout, '2\n');

  const partial = await run(['clone', '-q', '--no-checkout', '--filter=blob:none', remote, 'partial']);
  assert.equal(partial.code, 0, partial.stderr);
  assert.match((await run(['rev-list', '--objects', '--missing=print', 'HEAD'], { at: 'partial' })).stdout, /^\?/m);
  assert.equal((await run(['show', 'HEAD~1:README.md'], { at: 'partial' })).stdout, 'one\ntwo\n');

  const old = await run(['-c', 'protocol.version=0', 'clone', '-q', remote, 'old'], { env: { GIT_TRACE_PACKET: '1' } });
  assert.equal(old.code, 0, old.stderr);
  assert.doesNotMatch(old.stderr, /version 2/);
});

test('a large push arrives byte for byte', async () => {
  const here = await filledWorld();
  const client = await cloned(here, 'owner');
  const content = randomBytes(24 * 1024 * 1024);
  await commitFile(client, 'large', content);
  const pushed = await push(client, 'HEAD:main');
  assert.equal(pushed.code, 0, pushed.stderr);
  const raw = await fetch(`${here.url}/api/v4${fileUrl(here.project, 'large')}/raw`, {
    headers: { 'private-token': here.people.reporter.token },
  });
  const sha256 = createHash('sha256').update(content).digest('hex');
  assert.equal(
    createHash('sha256')
      .update(Buffer.from(await raw.arrayBuffer()))
      .digest('hex'),
    sha256,
  );
  assert.equal(raw.headers.get('x-gitlab-content-sha256'), sha256);
  const other = await cloned(here, 'reporter');
  assert.ok((await readFile(path.join(other.folder, 'work/large'))).equals(content));
});

test('a project is found at any depth of groups and in any case of its path', async () => {
  const here = await filledWorld();
  const full_path = `${here.group.path}/Deep.er/deep-est/${here.project.path}`;
  await here.db.updateTable('projects').set({ full_path }).where('id', '=', here.project.id).execute();
  const { run } = await gitClient();
  for (const address of [full_path, full_path.toUpperCase(), encodeURI(full_path).replaceAll('.', '%2E')]) {
    const listed = await run(['ls-remote', remoteOf(here.url, address, here.people.reporter.token)]);
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stdout, /refs\/heads\/main/);
  }
});

test('a refused push tells its user why, and no reference moves', async () => {
  const here = await filledWorld();
  const client = await cloned(here, 'developer');
  await push(client, 'HEAD:refs/tags/v1');
  const head = await headOf(here);
  await commitFile(client, 'a', 'a');
  const hex = 'ab'.repeat(20);
  const refused: [string[], RegExp][] = [
    [[':main'], /remote: GitLab: The default branch of a project cannot be deleted\./],
    [
      ['HEAD:main', `HEAD:refs/heads/${hex}`],
      /remote: GitLab: You cannot create a branch with a 40-character hexadecimal branch name\./,
    ],
    [['HEAD:main', 'HEAD:refs/coppice/x'], /remote rejected/],
  ];
  for (const [refs, text] of refused) {
    const { code, stderr } = await push(client, ...refs);
    assert.notEqual(code, 0);
    assert.match(stderr, text);
    assert.equal(await headOf(here), head, refs.join(' '));
  }
  assert.match((await push(client, ':main')).stderr, /\[remote rejected\] main \(pre-receive hook declined\)/);
  assert.deepEqual(await openRows(here), []);

  await client.run(['remote', 'set-url', 'origin', remoteFor(here, 'developer')], { at: 'work' });
  const retagged = await push(client, 'HEAD:draft', '+HEAD:refs/tags/v1');
  assert.match(retagged.stderr, /remote: GitLab: You are not allowed to change existing tags on this project\./);
  await client.run(['remote', 'set-url', 'origin', remoteFor(here, 'maintainer')], { at: 'work' });
  assert.equal((await push(client, '+HEAD:refs/tags/v1', 'HEAD:main')).code, 0);
  assert.notEqual(await headOf(here), head);
});

test('a member who loses their role cannot push until they have it again', async () => {
  const here = await filledWorld();
  const { db, people, project } = here;
  const client = await cloned(here, 'developer');
  await commitFile(client, 'a', 'a');
  const setLevel = (access_level: number) =>
    db
      .updateTable('project_authorizations')
      .set({ access_level })
      .where('user_id', '=', people.developer.id)
      .where('project_id', '=', project.id)
      .execute();
  await setLevel(levels.reporter);
  const refused = await push(client, 'HEAD:work');
  assert.match(refused.stderr, /403/);
  assert.equal(await headOf(here, 'work'), undefined);
  await setLevel(levels.developer);
  assert.equal((await push(client, 'HEAD:work')).code, 0);
});

test('a push that can only create some of its branches has effects for those that moved', async () => {
  const here = await world();
  const client = await cloned(here, 'owner');
  const id = await commitFile(client, 'a', 'a');
  const pushed = await push(client, 'HEAD:one', 'HEAD:one/below');
  assert.notEqual(pushed.code, 0);
  const names = (await here.as('reporter').get(`/projects/${here.project.id}/repository/branches`)).body.map(
    ({ name }: { name: string }) => name,
  );
  assert.equal(names.length, 1);
  assert.equal(await headOf(here, names[0]), id);
  assert.deepEqual(Object.values(await projectRow(here)), [names[0], false]);
  assert.deepEqual(await openRows(here), []);
});

test('exactly one of two pushes from the same commit wins', async () => {
  const here = await filledWorld();
  const clients = await Promise.all([cloned(here, 'owner'), cloned(here, 'maintainer')]);
  const ids = await Promise.all(clients.map((client, number) => commitFile(client, `file${number}`, 'x')));
  const results = await Promise.all(clients.map((client) => push(client, 'HEAD:main')));
  const won = results.findIndex(({ code }) => code === 0);
  assert.deepEqual(
    results.map(({ code }) => code === 0).toSorted(),
    [false, true],
    results.map(({ stderr }) => stderr).join('\n'),
  );
  assert.equal(await headOf(here), ids[won]);
  assert.deepEqual(await openRows(here), []);
});

test('when a push and an API commit race on a branch, no confirmed change is lost', async () => {
  const here = await filledWorld();
  for (let round = 0; round < 3; round++) {
    const client = await cloned(here, 'maintainer');
    const pushed_id = await commitFile(client, `pushed${round}`, 'x');
    const [pushed, created] = await Promise.all([
      push(client, 'HEAD:main'),
      here.as('maintainer').post(fileUrl(here.project, `made${round}`), { ...onMain, content: 'x' }),
    ]);
    const ids = (await here.as('reporter').get(`/projects/${here.project.id}/repository/commits`)).body.map(
      ({ id }: { id: string }) => id,
    );
    assert.equal(ids.includes(pushed_id), pushed.code === 0, pushed.stderr);
    const made = await here.as('reporter').get(fileUrl(here.project, `made${round}`), { ref: 'main' });
    assert.equal(made.status === 200, created.status === 201);
    assert.ok(pushed.code === 0 || created.status === 201);
  }
  assert.deepEqual(await openRows(here), []);
});

test('anyone can clone a public project, and only members can push to it', async () => {
  const here = await filledWorld();
  const { db, project, url } = here;
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  const client = await gitClient();
  const anonymous = await client.run(['clone', '-q', remoteOf(url, project.full_path), 'work']);
  assert.equal(anonymous.code, 0, anonymous.stderr);
  const head = await headOf(here);
  await commitFile(client, 'a', 'a');
  assert.notEqual((await push(client, 'HEAD:main')).code, 0);
  await client.run(['remote', 'set-url', 'origin', remoteFor(here, 'outsider')], { at: 'work' });
  assert.notEqual((await push(client, 'HEAD:main')).code, 0);
  const refused = await ask(here, `${project.full_path}.git/info/refs?service=git-receive-pack`, {
    token: here.people.outsider.token,
  });
  assert.deepEqual([refused.status, await refused.text()], [403, 'You are not allowed to push code to this project.']);

  await db.updateTable('projects').set({ repository_access_level: 'private' }).where('id', '=', project.id).execute();
  assert.equal((await ask(here, `${project.full_path}.git/info/refs?service=git-upload-pack`)).status, 401);
  const stranger = await ask(here, `${project.full_path}.git/info/refs?service=git-upload-pack`, {
    token: here.people.outsider.token,
  });
  assert.deepEqual(
    [stranger.status, await stranger.text()],
    [403, 'You are not allowed to download code from this project.'],
  );
  assert.equal(await headOf(here), head);
});

test('each refusal has its status and its text', async () => {
  const here = await filledWorld();
  const { project, people, db } = here;
  const pull = `${project.full_path}.git/info/refs?service=git-upload-pack`;
  const pushing = `${project.full_path}.git/info/refs?service=git-receive-pack`;
  const absent = "The project you were looking for could not be found or you don't have permission to view it.";
  const setScopes = (scopes: string[]) =>
    db.updateTable('personal_access_tokens').set({ scopes }).where('user_id', '=', people.developer.id).execute();
  const expect = async (address: string, options: Parameters<typeof ask>[2], status: number, text: string | RegExp) => {
    const answer = await ask(here, address, options);
    assert.equal(answer.status, status, address);
    assert.ok(answer.headers.get('x-request-id'));
    const body = await answer.text();
    if (typeof text === 'string') assert.equal(body, text);
    else assert.match(body, text);
    if (status === 401) assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic realm=/);
    if (status >= 400 && body !== '') assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
  };
  await expect(pull, {}, 401, accessDenied);
  await expect('no/such.git/info/refs?service=git-upload-pack', {}, 401, accessDenied);
  await expect(pull, { token: 'wrong' }, 401, accessDenied);
  await expect(pull, { token: people.developer.token, user: '' }, 401, accessDenied);
  await expect(pull, { headers: { authorization: 'Basic %%%' } }, 401, accessDenied);
  await expect(pull, { headers: { 'private-token': people.developer.token } }, 401, accessDenied);
  await expect(pull, { token: people.outsider.token }, 404, absent);
  await expect('no/such.git/info/refs?service=git-upload-pack', { token: people.outsider.token }, 404, absent);
  await expect(pull, { token: people.guest.token }, 403, 'You are not allowed to download code from this project.');
  await expect(pushing, { token: people.reporter.token }, 403, 'You are not allowed to push code to this project.');
  await expect(
    `${project.full_path}.git/info/refs`,
    { token: people.developer.token },
    403,
    "The command you're trying to execute is not allowed.",
  );
  await expect(
    `${project.full_path}.git/info/refs?service=git-shell`,
    {},
    403,
    "The command you're trying to execute is not allowed.",
  );
  await expect(pull, { method: 'HEAD' }, 403, '');

  await setScopes(['read_repository']);
  await expect(pull, { token: people.developer.token, user: 'oauth2' }, 200, /^001e# service=git-upload-pack\n/);
  await expect(pushing, { token: people.developer.token }, 403, 'You are not allowed to upload code.');
  await setScopes(['read_api']);
  await expect(pull, { token: people.developer.token }, 403, 'You are not allowed to download code.');
  await setScopes(['write_repository']);
  await expect(pull, { token: people.developer.token }, 200, /service=git-upload-pack/);
  await expect(pushing, { token: people.developer.token }, 200, /service=git-receive-pack/);

  await db.updateTable('projects').set({ archived: true }).where('id', '=', project.id).execute();
  await expect(pushing, { token: people.developer.token }, 403, "You can't push code to an archived project.");
  await expect(pull, { token: people.developer.token }, 200, /service=git-upload-pack/);
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', people.developer.id).execute();
  await expect(pull, { token: people.developer.token }, 403, 'Your account has been blocked.');
});

test('trees with file modes that git does not know are refused, wherever they are in a push', async () => {
  const here = await filledWorld();
  const client = await cloned(here, 'developer');
  const git = async (args: readonly string[], input?: string) => {
    const { code, stdout, stderr } = await client.run(args, { at: 'work', ...(input === undefined ? {} : { input }) });
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  const blob = await git(['rev-parse', 'HEAD:README.md']);
  const head = await git(['rev-parse', 'HEAD']);
  /** A commit whose folder has an entry with a mode, hidden below an honest one. */
  const commitWith = async (mode: string) => {
    await writeFile(
      path.join(client.folder, 'tree'),
      Buffer.concat([Buffer.from(`${mode} odd\0`), Buffer.from(blob, 'hex')]),
    );
    const folder = await git(['hash-object', '-t', 'tree', '-w', '--literally', '../tree']);
    const root = await git(['mktree'], `100644 blob ${blob}\tREADME.md\n040000 tree ${folder}\tfolder\n`);
    const odd = await git(['commit-tree', root, '-p', head, '-m', mode]);
    return { folder, tip: await git(['commit-tree', `${head}^{tree}`, '-p', odd, '-m', 'After it']) };
  };
  for (const mode of ['777777', '0', '170000', '100600', '100775', '120777', '160001']) {
    const { folder, tip } = await commitWith(mode);
    const refused = await push(client, `${tip}:refs/heads/odd`);
    assert.match(refused.stderr, new RegExp(`GitLab: The tree ${folder} has an entry with the file mode ${mode}\\.`));
    assert.equal(await headOf(here, 'odd'), undefined, mode);
  }
  for (const mode of ['100644', '100755', '100664', '120000']) {
    const { tip } = await commitWith(mode);
    const accepted = await push(client, `${tip}:refs/heads/even-${mode}`);
    assert.equal(accepted.code, 0, accepted.stderr);
  }
  // One odd tree among so many objects that they come as a pack, and their trees in many pieces.
  let parent = (await commitWith('777777')).tip;
  const names = Array.from({ length: 3000 }, (_, index) => `100644 blob ${blob}\tfile-${index}\n`).sort();
  for (let count = 30; count > 0; count--) {
    const root = await git(['mktree'], names.slice(0, -count).join(''));
    parent = await git(['commit-tree', root, '-p', parent, '-m', 'More']);
  }
  const many = await push(client, `${parent}:refs/heads/odd`);
  assert.match(many.stderr, /has an entry with the file mode 777777/);
  const clean = await git(['commit-tree', `${parent}^{tree}`, '-p', head, '-m', 'Clean']);
  assert.equal((await push(client, `${clean}:refs/heads/clean`)).code, 0);
});

test('a URL without .git redirects to the one with it', async () => {
  const here = await filledWorld();
  const { run } = await gitClient();
  const remote = remoteFor(here, 'reporter').replace(/\.git$/, '');
  const listed = await run(['ls-remote', remote]);
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /refs\/heads\/main/);
  const redirected = await ask(here, `${here.project.full_path}/info/refs?service=git-upload-pack`);
  assert.equal(redirected.status, 301);
  assert.equal(redirected.headers.get('location'), `/${here.project.full_path}.git/info/refs?service=git-upload-pack`);
  const endless = `${here.project.full_path}/info/refs?service=git-upload-pack&more=${'x'.repeat(16_000)}`;
  assert.equal((await ask(here, endless)).status, 414);
});

/** What a client of protocol 2 asks to learn the refs. */
const lsRefs = Buffer.from('0014command=ls-refs\n00010000');

function asksRefs(here: World, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  return ask(here, `${here.project.full_path}.git/git-upload-pack`, {
    method: 'POST',
    body,
    token: here.people.reporter.token,
    headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2', ...headers },
  });
}

test('a gzipped request is read like a plain one, and an invalid gzip is refused', async () => {
  const here = await filledWorld();
  const plain = await asksRefs(here, new Uint8Array(lsRefs));
  assert.equal(plain.status, 200);
  assert.equal(plain.headers.get('content-type'), 'application/x-git-upload-pack-result');
  assert.match(plain.headers.get('cache-control') ?? '', /no-cache/);
  const text = await plain.text();
  assert.match(text, /refs\/heads\/main/);
  const zipped = await asksRefs(here, new Uint8Array(gzipSync(lsRefs)), { 'content-encoding': 'gzip' });
  assert.equal(await zipped.text(), text);
  assert.equal((await asksRefs(here, new Uint8Array(lsRefs), { 'content-encoding': 'gzip' })).status, 400);
  assert.equal((await asksRefs(here, new Uint8Array(lsRefs), { 'content-encoding': 'br' })).status, 415);
  const cut = gzipSync(randomBytes(5000)).subarray(0, 3000);
  assert.equal((await asksRefs(here, new Uint8Array(cut), { 'content-encoding': 'gzip' })).status, 400);
});

test('a gzip bomb does no harm', async () => {
  const here = await filledWorld();
  const before = process.memoryUsage().arrayBuffers;
  // Every line is a well-formed flush, which git reads and forgets: it would read for ever.
  const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024, '0000'), { level: 9 });
  const answer = await asksRefs(here, new Uint8Array(bomb), {
    'content-encoding': 'gzip',
    'git-protocol': 'version=2',
  });
  await answer.arrayBuffer();
  assert.ok(process.memoryUsage().arrayBuffers - before < 400 * 1024 * 1024);
  assert.equal((await asksRefs(here, new Uint8Array(lsRefs))).status, 200);
});

test('clients that stall in a request for a public project start no git, or only as many as a client may have', async () => {
  const here = await filledWorld();
  const { db, project, url } = here;
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  const head = rawHead('POST', `/${project.full_path}.git/git-upload-pack`, { 'content-length': 1_000_000 });
  const want = `0032want ${await headOf(here)}\n`;
  const before = gitLoad();
  const stalled = async (sent: string) => {
    const socket = await rawSocket(url);
    socket.write(head + sent);
    return socket.resume();
  };
  const silent = await Promise.all(Array.from({ length: 40 }, () => stalled(want)));
  assert.equal((await (await gitClient()).run(['ls-remote', remoteOf(url, project.full_path)])).code, 0);
  const asked = gitLoad().started - before.started;
  assert.ok(asked < 10, `git was started ${asked} times`);

  const talkative = await Promise.all(Array.from({ length: 12 }, () => stalled(want.repeat(2000))));
  const started = async (count: number) => {
    while (gitLoad().started - before.started - asked < count) await new Promise(setImmediate);
    return gitLoad().running - before.running;
  };
  assert.equal(await started(8), 8);
  for (const socket of talkative.slice(0, 8)) socket.destroy();
  assert.ok((await started(12)) <= 8);
  for (const socket of [...silent, ...talkative]) socket.destroy();
});

test('git stops when its client disconnects in the middle of a clone', {
  skip: process.platform !== 'linux',
}, async () => {
  const here = await filledWorld();
  const client = await cloned(here, 'owner');
  await commitFile(client, 'large', randomBytes(32 * 1024 * 1024));
  const id = await headOf(here);
  assert.equal((await push(client, 'HEAD:main')).code, 0);
  const wanted = (await headOf(here))!;
  assert.notEqual(wanted, id);
  const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
  const body = `${line('command=fetch\n')}0001${line('ofs-delta\n')}${line(`want ${wanted}\n`)}${line('done\n')}0000`;
  const controller = new AbortController();
  const answer = await ask(here, `${here.project.full_path}.git/git-upload-pack`, {
    method: 'POST',
    body,
    token: here.people.reporter.token,
    signal: controller.signal,
    headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
  });
  await answer.body!.getReader().read();
  const { path: repository } = repositoryIn(here);
  const running = async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
    return lines.filter((command) => command.includes('upload-pack') && command.includes(repository)).length;
  };
  assert.notEqual(await running(), 0);
  controller.abort();
  while ((await running()) > 0) await new Promise(setImmediate);
});
