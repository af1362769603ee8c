import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { commitTo, put, temporaryFolder } from '../../test/support/bare_repository.ts';
import { type OutboundError, ResponseTooLong, throughProxy } from '../outbound/index.ts';
import {
  advertiseRefs,
  allRefs,
  createRepository,
  fetchBundle,
  fetchForeign,
  fsck,
  GitError,
  git,
  type ObjectFormat,
  plantRefs,
  type Repository,
  uploadPack,
} from './index.ts';

const limits = () => ({ timeout_ms: 60_000, signal: new AbortController().signal });

async function pair(t: TestContext, objectFormat: ObjectFormat = 'sha1') {
  const folder = await temporaryFolder(t);
  const make = (name: string) => createRepository(join(folder, name), { defaultBranch: 'main', objectFormat });
  const source = await make('source.git');
  const commit = await commitTo(source, { changes: [put('a.txt', 'a')] });
  const blob = (await git(source, 'rev-parse', ['--verify'], [`${commit}:a.txt`])).toString().trim();
  const good = ['refs/tags/v1', 'refs/notes/commits', 'refs/merge-requests/1/head', `refs/keep-around/${commit}`];
  const odd = ['refs/merge-requests/x/head', 'refs/keep-around/1', 'refs/heads/HEAD', 'refs/tags/-d'];
  const refs = new Map([...good, ...odd, 'refs/pipelines/1'].map((ref) => [ref, commit]));
  await plantRefs(source, refs.set('refs/tags/file', blob).set('refs/merge-requests/2/head', blob));
  const expected = new Map([...good, 'refs/heads/main'].map((ref) => [ref, commit])).set('refs/tags/file', blob);
  return { folder, source, target: await make('target.git'), commit, expected, skipped: odd.length + 1 };
}

async function bundleOf(source: Repository, file: string): Promise<string> {
  await git(source, 'bundle create', ['--quiet', '--version=3'], [file, '--all']).catch(() => {});
  return file;
}

for (const objectFormat of ['sha1', 'sha256'] as const)
  test(`a bundle brings the refs that we keep, with ${objectFormat}`, async (t) => {
    const { folder, source, target, expected, skipped } = await pair(t, objectFormat);
    const file = await bundleOf(source, join(folder, 'repository.bundle'));
    // A run that was interrupted left something, and the second one starts again.
    for (const _ of [1, 2]) {
      const fetched = await fetchBundle(file, target, limits());
      assert.deepEqual(fetched, { refs: fetched.refs, skipped });
      assert.deepEqual(new Map([...fetched.refs].sort()), new Map([...expected].sort()));
      assert.deepEqual(new Map([...(await allRefs(target))].sort()), new Map([...expected].sort()));
    }
    assert.deepEqual(await fsck(target), []);
    assert.deepEqual((await readdir(folder)).sort(), ['repository.bundle', 'source.git', 'target.git']);
  });

test('a bundle that is damaged, incomplete or has forbidden objects brings nothing', async (t) => {
  const { folder, source, target, commit } = await pair(t);
  const whole = await readFile(await bundleOf(source, join(folder, 'whole.bundle')));
  await commitTo(source, { parent: commit, changes: [put('b.txt', 'b')] });
  await git(source, 'bundle create', ['--quiet'], [join(folder, 'part.bundle'), `${commit}..main`]).catch(() => {});
  const evil = await createRepository(join(folder, 'evil.git'), { defaultBranch: 'main' });
  await evilCommit(evil);
  const flipped = Buffer.from(whole);
  flipped[whole.length - 30]! ^= 0xff;
  await writeFile(join(folder, 'cut.bundle'), whole.subarray(0, -10));
  await writeFile(join(folder, 'flipped.bundle'), flipped);
  await writeFile(join(folder, 'text.bundle'), 'no bundle');
  await bundleOf(evil, join(folder, 'evil.bundle'));
  for (const name of ['cut', 'flipped', 'text', 'part', 'evil', 'missing'])
    await assert.rejects(fetchBundle(join(folder, `${name}.bundle`), target, limits()), GitError, name);
  assert.deepEqual([await allRefs(target), await readdir(join(target.path, 'objects/pack'))], [new Map(), []]);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('.')),
    [],
  );
});

/** A commit whose tree has a file named `.git`, which git's own commands do not make. */
async function evilCommit(repository: Repository): Promise<void> {
  const hash = async (type: string, input: Buffer | string) => {
    const options = ['-w', '--stdin', '--literally'] as const;
    return (await git(repository, `hash-object -t ${type}`, options, [], [], { input })).toString().trim();
  };
  const blob = await hash('blob', 'x');
  const tree = await hash('tree', Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]));
  const commit = await hash('commit', `tree ${tree}\nauthor A <a@b.c> 0 +0000\ncommitter A <a@b.c> 0 +0000\n\nx\n`);
  await plantRefs(repository, new Map([['refs/heads/main', commit]]));
}

const token = 'secret-token-0123456789';

interface Served {
  url: string;
  /** The paths that were asked for with the token. */
  asked: string[];
}

/** A server of one repository that wants a token. */
async function serve(t: TestContext, source: Repository, onAsked = async () => {}): Promise<Served> {
  const asked: string[] = [];
  const wanted = `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`;
  const server: Server = createServer(async (request, response) => {
    if (request.url?.startsWith('/moved')) return response.writeHead(301, { location: 'http://example.com/' }).end();
    if (request.headers.authorization !== wanted)
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    asked.push(request.url!);
    await onAsked();
    const by = { client: 'test', protocol: request.headers['git-protocol'] as string | undefined };
    const isAdvertised = request.method === 'GET';
    response.setHeader('content-type', `application/x-git-upload-pack-${isAdvertised ? 'advertisement' : 'result'}`);
    const reply = isAdvertised
      ? advertiseRefs(source, 'git-upload-pack', by)
      : uploadPack(source, { ...by, input: request });
    reply.pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

interface Options {
  may_be_local?: boolean;
  most_bytes?: number;
  password?: string;
  proxied?: string;
}

const fetched = (
  url: string,
  target: Repository,
  { may_be_local = true, most_bytes = 10 ** 6, password = token, proxied = url }: Options = {},
) =>
  throughProxy({ url: proxied, may_be_local, most_bytes }, (proxy_url) =>
    fetchForeign({ url, proxy_url, credential: { username: 'oauth2', password } }, target, limits()),
  );

/** Whether the token is in the arguments or the environment of a process, by its id. */
async function processesShowing(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid))
    for (const file of ['cmdline', 'environ'])
      if ((await readFile(join('/proc', id, file), 'latin1').catch(() => '')).includes(text))
        found.push(`${id}/${file}`);
  return found;
}

test('a repository is fetched over HTTP with a token that nothing shows', async (t) => {
  const { folder, source, target, expected } = await pair(t);
  const shown: string[] = [];
  const { url, asked } = await serve(t, source, async () => {
    shown.push(...(await processesShowing(token)));
    for (const name of await readdir(folder, { recursive: true }))
      if (/config$/.test(name) && (await readFile(join(folder, name), 'utf8')).includes(token)) shown.push(name);
  });
  const { refs } = await fetched(`${url}/group/project.git`, target);
  const visible = [...expected].filter(([ref]) => !ref.startsWith('refs/keep-around/'));
  assert.deepEqual(new Map([...refs].sort()), new Map(visible.sort()));
  assert.ok(asked.length >= 2);
  assert.deepEqual(shown, []);
});

test('a fetch over HTTP is refused by address, host, redirect, token and size', async (t) => {
  const { source, target } = await pair(t);
  const { url, asked } = await serve(t, source);
  const path = `${url}/group/project.git`;
  const messageOf = (work: Promise<unknown>) =>
    work.then(
      () => 'fetched',
      (error: OutboundError) => error.message,
    );
  assert.equal(
    await messageOf(fetched(path, target, { may_be_local: false })),
    'Requests to localhost are not allowed',
  );
  const byName = path.replace('127.0.0.1', 'localhost.example');
  assert.match(await messageOf(fetched(byName, target, { may_be_local: false })), /ENOTFOUND|EAI_AGAIN/);
  assert.equal(
    await messageOf(fetched(path, target, { proxied: 'http://example.com' })),
    'Requests to another host are not allowed',
  );
  const secure = path.replace('http:', 'https:');
  assert.equal(
    await messageOf(fetched(secure, target, { may_be_local: false })),
    'Requests to localhost are not allowed',
  );
  assert.deepEqual(asked, []);
  await assert.rejects(fetched(`${url}/moved/project.git`, target), GitError);
  await assert.rejects(fetched(path, target, { password: 'wrong' }), GitError);
  await assert.rejects(fetched(path, target, { most_bytes: 300 }), ResponseTooLong);
  await assert.rejects(fetched('file:///etc', target, { proxied: path }), GitError);
  assert.deepEqual(await allRefs(target), new Map());
  assert.equal(await messageOf(fetched(path, target)), 'fetched');
});
