import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { createGunzip, deflateSync } from 'node:zlib';
import {
  commitTo,
  put,
  refusedGit,
  temporaryFolder,
  temporaryRepository,
  userGit,
} from '../../test/support/bare_repository.ts';
import {
  advertiseRefs,
  GitError,
  git,
  gitLoad,
  listBranches,
  listCommits,
  type Push,
  type PushRules,
  type RefUpdate,
  type Repository,
  receivePack,
  resolveBranch,
  type Service,
  SlowReader,
  SlowSender,
  setHead,
  updateRefs,
  uploadPack,
} from './index.ts';

const client = '192.0.2.1';
const lenient: PushRules = {
  check: async () => [],
  moved: async () => [],
  failed: (error) => {
    throw error;
  },
};

/** Smart HTTP and nothing else, as the real server mounts it. */
async function serve(t: TestContext, repository: Repository, rules: PushRules = lenient): Promise<string> {
  const server = createServer((incoming, reply) => {
    answer(repository, rules, incoming, reply).catch((error: Error) => reply.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/project.git`;
}

async function answer(
  repository: Repository,
  rules: PushRules,
  incoming: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const url = new URL(incoming.url ?? '', 'http://localhost');
  const protocol = incoming.headers['git-protocol']?.toString();
  const service = (url.searchParams.get('service') ?? url.pathname.split('/').at(-1)) as Service;
  const is_zipped = incoming.headers['content-encoding'] === 'gzip';
  const input = is_zipped ? pipeline(incoming, createGunzip(), () => {}) : incoming;
  reply.setHeader(
    'content-type',
    `application/x-${service}-${url.pathname.endsWith('/info/refs') ? 'advertisement' : 'result'}`,
  );
  if (url.pathname.endsWith('/info/refs'))
    pipeline(advertiseRefs(repository, service, { client, protocol }), reply, () => {});
  else if (service === 'git-upload-pack')
    pipeline(uploadPack(repository, { client, input, protocol }), reply, () => {});
  else pipeline(await receivePack(repository, { client, input, protocol, ...rules }), reply, () => {});
}

test('a project is pushed, cloned, changed and fetched with the protocols 0 and 2', async (t) => {
  const folder = await temporaryFolder(t);
  for (const version of ['0', '2']) {
    const repository = await temporaryRepository(t);
    const url = await serve(t, repository);
    const clone = join(folder, `clone${version}`);
    await userGit(folder, 'clone', '-c', `protocol.version=${version}`, url, clone); // Empty, as a new project is.
    await writeFile(join(clone, 'noise'), randomBytes(1_000_000));
    await userGit(clone, 'add', '.');
    await userGit(clone, 'commit', '-m', 'Noise');
    await userGit(clone, 'push', 'origin', 'HEAD:refs/heads/main', 'HEAD:refs/tags/v1');
    assert.equal(await resolveBranch(repository, 'main'), (await userGit(clone, 'rev-parse', 'HEAD')).trim());

    const second = join(folder, `second${version}`);
    await userGit(folder, 'clone', '-c', `protocol.version=${version}`, url, second);
    assert.match(await userGit(second, 'log', '--format=%s %D'), /^Noise HEAD -> main, tag: v1/);
    const parent = await resolveBranch(repository, 'main');
    await commitTo(repository, { parent: parent!, message: 'Through the API', changes: [put('b', 'b')] });
    await userGit(second, 'pull', '--ff-only');
    assert.match(await userGit(second, 'log', '-1', '--format=%s'), /^Through the API/);
  }
});

test('shallow and partial clones get less, and the rest when it is needed', async (t) => {
  const repository = await temporaryRepository(t);
  let parent: string | null = null;
  for (let count = 1; count <= 5; count++)
    parent = await commitTo(repository, { parent, changes: [put('a', `${count}`.repeat(1000))] });
  const url = await serve(t, repository);
  const folder = await temporaryFolder(t);
  await userGit(folder, 'clone', '--depth=2', url, 'shallow');
  assert.equal(await userGit(join(folder, 'shallow'), 'rev-list', '--count', 'HEAD'), '2\n');
  await userGit(join(folder, 'shallow'), 'fetch', '--unshallow');
  assert.equal(await userGit(join(folder, 'shallow'), 'rev-list', '--count', 'HEAD'), '5\n');

  await userGit(folder, 'clone', '--filter=blob:none', url, 'partial');
  const missing = await userGit(join(folder, 'partial'), 'rev-list', '--objects', '--all', '--missing=print');
  assert.equal(missing.match(/^\?/gm)?.length, 4);
  assert.equal(await userGit(join(folder, 'partial'), 'show', 'HEAD~2:a'), '3'.repeat(1000));
});

test('a refused push leaves the refs, and its client reads why', async (t) => {
  const repository = await temporaryRepository(t);
  const before = await commitTo(repository, { changes: [put('a', '1')] });
  const pushes: Push[] = [];
  let seen: string[] = [];
  const rules: PushRules = {
    ...lenient,
    check: async (push) => {
      pushes.push(push);
      const commits = await listCommits(repository, {
        from: [push.updates[0]!.new!],
        not_all: true,
        env: push.quarantine,
        with_stats: true,
      });
      seen = commits.map(({ message, stats }) => `${message} ${stats.additions}`);
      return ['The message must name an issue.', 'Really.'];
    },
    moved: async () => assert.fail('nothing has moved'),
  };
  const url = await serve(t, repository, rules);
  const folder = await temporaryFolder(t);
  await userGit(folder, 'clone', url, 'work');
  const work = join(folder, 'work');
  await writeFile(join(work, 'b'), 'b\n');
  await userGit(work, 'add', '.');
  await userGit(work, 'commit', '-m', 'No issue');
  const said = await refusedGit(work, 'push', '-o', 'ci.skip', '-o', 'odd "option" $(x)\\', 'origin', 'HEAD:main');
  assert.match(said, /remote: GitLab: The message must name an issue\.\s*\nremote: GitLab: Really\./);
  assert.match(said, /pre-receive hook declined/);
  assert.deepEqual(seen, ['No issue\n 1']);
  assert.deepEqual(pushes[0]?.options, ['ci.skip', 'odd "option" $(x)\\']);
  assert.equal(await resolveBranch(repository, 'main'), before);
  const pushed = (await userGit(work, 'rev-parse', 'HEAD')).trim();
  assert.deepEqual(pushes[0]?.updates, [{ ref: 'refs/heads/main', old: before, new: pushed }]);
  await assert.rejects(git(repository, 'cat-file', ['-e'], [pushed]), { name: 'GitError' });
});

test('an accepted push reports all moved refs, also created and deleted ones, and shows the messages of the server', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', '1')] });
  await updateRefs(repository, [{ ref: 'refs/heads/old', old: null, new: id }]);
  const moves: RefUpdate[] = [];
  const rules: PushRules = {
    ...lenient,
    moved: async (updates) => {
      moves.push(...updates);
      return ['', 'To create a merge request, visit:\n  http://localhost/new', ''];
    },
  };
  const url = await serve(t, repository, rules);
  const folder = await temporaryFolder(t);
  await userGit(folder, 'clone', url, 'work');
  const said = await userGit(join(folder, 'work'), 'push', 'origin', 'HEAD:refs/heads/new', ':old');
  assert.match(said, /remote: To create a merge request, visit:\s*\nremote: {3}http:\/\/localhost\/new/);
  const by_ref = moves.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
  assert.deepEqual(by_ref, [
    { ref: 'refs/heads/new', old: null, new: id },
    { ref: 'refs/heads/old', old: id, new: null },
  ]);
  assert.match(await userGit(join(folder, 'work'), 'push', 'origin', ':new'), /deleted/);
});

test('a rule that fails refuses the push', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', '1')] });
  const failures: unknown[] = [];
  const url = await serve(t, repository, {
    ...lenient,
    check: async () => {
      throw new Error('the database is away');
    },
    failed: (error) => failures.push(error),
  });
  const folder = await temporaryFolder(t);
  await userGit(folder, 'clone', url, 'work');
  const said = await refusedGit(join(folder, 'work'), 'push', 'origin', 'HEAD:refs/heads/new');
  assert.match(said, /remote: GitLab: An internal error prevented the push\./);
  assert.doesNotMatch(said, /database/);
  assert.equal(failures.length, 1);
  assert.deepEqual(await listBranches(repository), [{ name: 'main', commit_id: id }]);
});

test('only branches and tags with proper names can be pushed, and our own refs are not even shown', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', '1')] });
  await updateRefs(repository, [{ ref: 'refs/coppice/kept', old: null, new: id }]);
  const url = await serve(t, repository);
  const folder = await temporaryFolder(t);
  await userGit(folder, 'clone', url, 'work');
  const work = join(folder, 'work');
  assert.doesNotMatch(await userGit(work, 'ls-remote'), /coppice/);
  for (const ref of [
    'refs/coppice/x',
    'refs/merge-requests/1/head',
    'refs/heads/refs/heads/main',
    'refs/heads/-x',
    'refs/keep-around/x',
  ]) {
    await refusedGit(work, 'push', 'origin', `HEAD:${ref}`, 'HEAD:refs/heads/beside');
    const refs = (await git(repository, 'for-each-ref', ['--format=%(refname)'])).toString();
    assert.doesNotMatch(refs, new RegExp(`^${ref}$`, 'm'));
  }
});

/** The body of a push of one new branch, as a client would send it. */
async function bodyOfPush(repository: Repository, id: string): Promise<Buffer> {
  const line = `${'0'.repeat(40)} ${id} refs/heads/new\0report-status side-band-64k`;
  const pack = await git(repository, 'pack-objects', ['--stdout', '--revs', '--quiet'], [], [], { input: `${id}\n` });
  return Buffer.concat([Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`), pack]);
}

test('a client that goes away in the middle of a push leaves everything as it was', async (t) => {
  const source = await temporaryRepository(t);
  const id = await commitTo(source, { changes: [put('noise', randomBytes(2_000_000))] });
  const body = await bodyOfPush(source, id);
  const repository = await temporaryRepository(t);
  const input = new PassThrough();
  input.write(body.subarray(0, body.length / 2));
  const out = await receivePack(repository, { client, input, ...lenient });
  out.on('error', () => {});
  const closed = new Promise((resolve) => out.once('close', resolve));
  input.destroy(new Error('the connection was reset'));
  await closed;
  assert.deepEqual(await listBranches(repository), []);
});

test('a client that goes away while its push is being checked moves nothing', async (t) => {
  const source = await temporaryRepository(t);
  const id = await commitTo(source, { changes: [put('a', '1')] });
  const repository = await temporaryRepository(t);
  const gone = new AbortController();
  let release = () => {};
  const checked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const out = await receivePack(repository, {
    client,
    input: Readable.from([await bodyOfPush(source, id)]),
    signal: gone.signal,
    ...lenient,
    check: async () => {
      gone.abort();
      await checked;
      return [];
    },
    moved: async () => assert.fail('nothing has moved'),
  });
  await new Promise((resolve) => out.once('close', resolve));
  release();
  assert.deepEqual(await listBranches(repository), []);
});

test('an accepted push is finished and recorded although its client has gone', async (t) => {
  const source = await temporaryRepository(t);
  const id = await commitTo(source, { changes: [put('a', '1')] });
  const repository = await temporaryRepository(t);
  const received = Promise.withResolvers<RefUpdate[]>();
  const gone = new AbortController();
  const out = await receivePack(repository, {
    client,
    input: Readable.from([await bodyOfPush(source, id)]),
    signal: gone.signal,
    ...lenient,
    check: async () => {
      process.nextTick(() => setImmediate(() => gone.abort()));
      return [];
    },
    moved: async (updates) => {
      received.resolve(updates);
      return ['No client reads this.'];
    },
  });
  out.resume();
  assert.deepEqual(await received.promise, [{ ref: 'refs/heads/new', old: null, new: id }]);
  assert.equal(await resolveBranch(repository, 'new'), id);
});

test('a push whose server dies before the verdict moves nothing', async (t) => {
  const source = await temporaryRepository(t);
  const id = await commitTo(source, { changes: [put('a', '1')] });
  const body = join(await temporaryFolder(t), 'body');
  await writeFile(body, await bodyOfPush(source, id));
  const repository = await temporaryRepository(t);
  // The server is a program of its own here, and ends without a word in the middle of the check.
  const program = `
    import { createReadStream } from 'node:fs';
    import { receivePack } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
    const rules = { check: async () => process.kill(process.pid, 'SIGKILL'), moved: async () => [], failed() {} };
    await receivePack(${JSON.stringify(repository)}, { client: '', input: createReadStream(${JSON.stringify(body)}), ...rules });`;

  const server = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    server.once('close', (...end) => resolve(end)),
  );
  assert.equal(signal, 'SIGKILL');
  assert.deepEqual(await listBranches(repository), []);
});

test('git is stopped for a client that does not read its reply', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('noise', randomBytes(8_000_000))] });
  t.mock.timers.enable({ apis: ['setInterval'] });
  const before = gitLoad().running;
  const wanted = `0032want ${id}\n00000009done\n`;
  const out = uploadPack(repository, { client, input: Readable.from([Buffer.from(wanted)]) });
  const failure = once(out, 'error');
  out.read(0);
  while (out.readableLength < out.readableHighWaterMark) await new Promise(setImmediate);
  t.mock.timers.tick(60_000); // the first window, in which the buffer was filled
  assert.equal(out.destroyed, false);
  t.mock.timers.tick(60_000);
  assert.ok((await failure)[0] instanceof SlowReader);
  while (gitLoad().running > before) await new Promise(setImmediate);
});

test('a header that is no protocol version is as good as none', async (t) => {
  const repository = await temporaryRepository(t);
  await commitTo(repository, { changes: [put('a', '1')] });
  const start = async (protocol?: string) =>
    Buffer.concat(await advertiseRefs(repository, 'git-upload-pack', { client, protocol }).toArray()).toString(
      'latin1',
      0,
      40,
    );
  assert.match(await start(), /^001e# service=git-upload-pack\n0000/);
  assert.match(await start('version=2'), /^000eversion 2\n/);
  assert.match(await start('version=1'), /^001e# service=git-upload-pack\n0000000eve/);
  for (const odd of ['version=2\nx', 'version=2;x', 'version=2 ', '', 'x'.repeat(1000)])
    assert.match(await start(odd), /^001e/);
});

test('the capabilities of protocol 2 are those of git, for each kind of repository, and a missing repository has none', async (t) => {
  const [sha1, other, sha256] = [
    await temporaryRepository(t),
    await temporaryRepository(t),
    await temporaryRepository(t, 'sha256'),
  ];
  const capabilities = async (repository: Repository, protocol = 'version=2') =>
    Buffer.concat(await advertiseRefs(repository, 'git-upload-pack', { client, protocol }).toArray()).toString();
  const asked = await git(undefined, 'upload-pack', ['--stateless-rpc', '--advertise-refs'], [sha1.path], [], {
    env: { GIT_PROTOCOL: 'version=2' },
  });
  for (const repository of [sha1, sha1, other]) assert.equal(await capabilities(repository), asked.toString());
  assert.match(await capabilities(sha256), /object-format=sha256/);
  await rm(other.path, { recursive: true });
  await assert.rejects(capabilities(other), GitError);
});

test('a push is advertised the current refs of its own repository, whichever protocol the client asks for', async (t) => {
  for (const protocol of [undefined, 'version=2']) {
    const [one, other] = [await temporaryRepository(t), await temporaryRepository(t)];
    await commitTo(one, { branch: 'secret', changes: [put('a', '1')] });
    const names = async (repository: Repository) => {
      const advertised = await advertiseRefs(repository, 'git-receive-pack', { client, protocol }).toArray();
      return Array.from(
        Buffer.concat(advertised)
          .toString()
          .matchAll(/refs\/heads\/(\w+)/g),
        ([, name]) => name,
      );
    };
    assert.deepEqual(await names(one), ['secret']);
    assert.deepEqual(await names(other), []);
    await commitTo(one, { branch: 'later', changes: [put('a', '2')] });
    assert.deepEqual(await names(one), ['later', 'secret']);
  }
});

test('clients of protocol 0 are advertised the same refs as by git, without git', async (t) => {
  for (const format of ['sha1', 'sha256'] as const) {
    const repository = await temporaryRepository(t, format);
    const received = async (service: Service, protocol?: string) =>
      Buffer.concat(await advertiseRefs(repository, service, { client, protocol }).toArray()).toString();
    const compared = async () => {
      for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
        const asked = await git(
          undefined,
          service.slice(4),
          ['--stateless-rpc', '--advertise-refs'],
          [repository.path],
        );
        const expected = `${service.length === 15 ? '001e' : '001f'}# service=${service}\n0000${asked}`;
        assert.equal(await received(service), expected);
        assert.equal(await received(service), expected);
      }
    };
    await compared();
    const id = await commitTo(repository, { branch: 'other', changes: [put('a', '1')] });
    await compared();
    const later = await commitTo(repository, { parent: null, changes: [put('a', '2')] });
    await updateRefs(repository, [
      { ref: 'refs/heads/ä$&', old: null, new: later },
      { ref: 'refs/coppice/hidden', old: null, new: id },
      { ref: 'refs/notes/commits', old: null, new: id },
    ]);
    await userGit(repository.path, 'tag', '-a', '-m', 'heavy', 'heavy', id);
    await userGit(repository.path, 'tag', '-a', '-m', 'heavier', 'heavier', 'heavy');
    await userGit(repository.path, 'tag', '-a', '-m', 'tree', 'tree', `${id}^{tree}`);
    await compared();
    const before = gitLoad().started;
    assert.match(await received('git-upload-pack'), /symref=HEAD:refs\/heads\/main/);
    await received('git-receive-pack');
    assert.equal(gitLoad().started, before);
    await git(repository, 'pack-refs', ['--all']);
    await setHead(repository, 'ä$&');
    await compared();
    await userGit(repository.path, 'update-ref', '--no-deref', 'HEAD', id);
    await compared();
    await setHead(repository, 'missing');
    await compared();
    assert.match(await received('git-upload-pack', 'version=1'), /version 1/);
    await rm(repository.path, { recursive: true });
    await assert.rejects(received('git-receive-pack'), GitError);
  }
});

test('refs of merge requests are fetched by name and pushed by no one, those that keep commits are hidden, and a clone takes neither', async (t) => {
  const folder = await temporaryFolder(t);
  for (const version of ['0', '2']) {
    const repository = await temporaryRepository(t);
    const main = await commitTo(repository, { message: 'On main', changes: [put('a', 'a')] });
    const proposed = await commitTo(repository, {
      branch: 'proposal',
      parent: null,
      message: 'Proposed',
      changes: [put('b', 'b')],
    });
    await updateRefs(repository, [
      { ref: 'refs/merge-requests/1/head', old: null, new: proposed },
      { ref: `refs/keep-around/${proposed}`, old: null, new: proposed },
      { ref: 'refs/heads/proposal', old: proposed, new: null },
    ]);
    const url = await serve(t, repository);
    const protocol = ['-c', `protocol.version=${version}`];
    // The second time, the server answers protocol 0 without git.
    for (const _ of ['git', 'server'])
      assert.equal(
        await userGit(folder, ...protocol, 'ls-remote', url),
        `${main}\tHEAD\n${main}\trefs/heads/main\n${proposed}\trefs/merge-requests/1/head\n`,
      );
    const clone = join(folder, `clone${version}`);
    await userGit(folder, ...protocol, 'clone', url, clone);
    assert.equal(
      await userGit(clone, 'for-each-ref', '--format=%(refname)', 'refs/remotes/origin/main', 'refs/merge-requests'),
      'refs/remotes/origin/main\n',
    );
    await assert.rejects(userGit(clone, 'cat-file', '-e', proposed), 'the clone has only what branches and tags reach');
    await userGit(clone, ...protocol, 'fetch', 'origin', 'refs/merge-requests/1/head:proposal');
    assert.equal((await userGit(clone, 'rev-parse', 'proposal')).trim(), proposed);

    for (const ref of ['refs/merge-requests/1/head', 'refs/merge-requests/2/head', `refs/keep-around/${main}`])
      assert.match(
        await refusedGit(clone, ...protocol, 'push', '--force', 'origin', `main:${ref}`),
        /cannot be pushed/,
      );
    assert.match(
      await refusedGit(clone, 'push', 'origin', ':refs/merge-requests/1/head'),
      /cannot be pushed|remote ref does not exist/,
    );
    assert.deepEqual(
      (await git(repository, 'for-each-ref', ['--format=%(objectname) %(refname)'])).toString(),
      `${main} refs/heads/main\n${proposed} refs/keep-around/${proposed}\n${proposed} refs/merge-requests/1/head\n`,
    );
  }
});

/** A push of which a part has arrived: the commands, and the beginning of a pack of one blob of 200,000 bytes. */
function stalledPush(sent_bytes: number): PassThrough {
  const id = 'a'.repeat(40);
  const line = `${'0'.repeat(40)} ${id} refs/heads/main\0report-status`;
  const size = 200_000;
  const head = [0x80 | (3 << 4) | (size & 15), 0x80 | ((size >> 4) & 127), 0x80 | ((size >> 11) & 127), size >> 18];
  const pack = Buffer.concat([
    Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1'),
    Buffer.from(head),
    deflateSync(randomBytes(size)),
  ]);
  const input = new PassThrough();
  input.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  input.write(pack.subarray(0, sent_bytes));
  return input;
}

const soon = { window_ms: 120, least_bytes: 1000 };

test('a push that stalls once it has a place loses it', async (t) => {
  const repository = await temporaryRepository(t);
  const request = { client, input: stalledPush(100_000), arrives: soon, ...lenient };
  const out = await receivePack(repository, request);
  assert.equal(gitLoad().running, 1);
  await assert.rejects(out.toArray(), SlowSender);
  while (gitLoad().running > 0) await once(AbortSignal.timeout(10), 'abort');
});

test('in a conversation, a push has no place before its pack arrives, and loses it when that stalls', async (t) => {
  const repository = await temporaryRepository(t);
  const speaking = { client, is_conversation: true, ...lenient };
  const silent = await receivePack(repository, { ...speaking, input: stalledPush(0), begins: soon });
  let heard = '';
  silent.on('data', (part) => {
    heard += part;
  });
  await assert.rejects(once(silent, 'end'), SlowSender);
  assert.match(heard, /^[\da-f]{4}0{40} capabilities\^\{\}\0/);
  assert.equal(gitLoad().running, 0);
  for (const sent_bytes of [1, 40_000]) {
    const out = await receivePack(repository, { ...speaking, input: stalledPush(sent_bytes), arrives: soon });
    await assert.rejects(out.toArray(), SlowSender);
    while (gitLoad().running > 0) await once(AbortSignal.timeout(10), 'abort');
  }
});
