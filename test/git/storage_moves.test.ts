/** git while repositories move to another storage: pushes are refused, and everything that reads goes on. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { followSwitches } from '../../src/areas/spaces/storage_moves/switch_actions.ts';
import { closeReaders, placeOf, streamBundle } from '../../src/git/index.ts';
import { gitClient, remoteOf } from '../support/git.ts';
import { performQueued } from '../support/jobs.ts';
import { basic, batch, objectFor, put } from '../support/lfs.ts';
import { fileUrl, filledWorld } from '../support/repository.ts';
import { sshFor, withKey } from '../support/ssh.ts';
import { moved, moveJobs, pass, passGrace, twoStorages, whileMoving } from '../support/storage_moves.ts';
import { untilLockWaits } from '../support/waiting.ts';
import type { World } from '../support/world.ts';
import { clone, remoteFor, type WorkTree } from './work_tree.ts';

const text = 'The repository is temporarily read-only. Please try again later.';
const options = await twoStorages();
const movable = () => filledWorld(options);

/** What moves with a repository that is cloned. */
interface Place {
  url: string;
  at: string;
  owner: Parameters<typeof whileMoving>[2];
}

async function placesOf(here: World): Promise<Place[]> {
  const { project, group, db } = here;
  const page = { title: 'Home', content: 'one' };
  for (const url of [`/projects/${project.id}`, `/groups/${group.id}`])
    assert.equal((await here.as('maintainer').post(`${url}/wikis`, page)).status, 201);
  const files = [{ file_path: 'a.txt', content: 'a\n' }];
  const { body: snippet } = await here
    .as('developer')
    .post(`/projects/${project.id}/snippets`, { title: 'Fruit', files });
  const wikis = await db.selectFrom('wikis').select(['id', 'group_id', 'project_id']).execute();
  const wikiOf = (of: object) =>
    wikis.find((wiki) => Object.entries(of).every(([key, id]) => wiki[key as 'id'] === id))!.id;
  return [
    { url: `/projects/${project.id}`, at: project.full_path, owner: { project_id: project.id } },
    {
      url: `/snippets/${snippet.id}`,
      at: `${project.full_path}/snippets/${snippet.id}`,
      owner: { snippet_id: snippet.id },
    },
    { url: `/groups/${group.id}`, at: `${group.full_path}.wiki`, owner: { wiki_id: wikiOf({ group_id: group.id }) } },
  ];
}

test('pushes to what moves are refused over HTTP and SSH, reads go on, and the same pushes go through afterwards', async () => {
  const here = await movable();
  const { project, url } = here;
  const ssh = await sshFor(here);
  const { file } = await ssh.keyOf('maintainer');
  const { token } = here.people.maintainer;
  const overSsh = withKey(file, ssh.hostKey);
  for (const { url: moving, at, owner } of await placesOf(here)) {
    // The wiki of a project moves with it.
    const paths = at === project.full_path ? [at, `${at}.wiki`] : [at];
    const works = await Promise.all(paths.map((each) => clone(remoteOf(url, each, token))));
    for (const work of works) for (const name of ['http.md', 'ssh.md']) await work.commit(name, at);
    const pushes = paths.flatMap((each, index) => [
      {
        work: works[index]!,
        push: ['push', '-q', remoteOf(url, each, token), 'HEAD~1:main'],
        said: `remote: ${text}\n`,
      },
      {
        work: works[index]!,
        push: [...overSsh, 'push', '-q', ssh.remote(each), 'HEAD:main'],
        said: `ERROR: ${text}\n`,
      },
    ]);
    const move = await whileMoving(here, moving, owner, async () => {
      for (const { work, push, said } of pushes) {
        const answer = await work.refused(...push);
        assert.ok(answer.includes(said), answer);
      }
      for (const each of paths) {
        await clone(remoteOf(url, each, token));
        await clone(ssh.remote(each), ...overSsh);
      }
      const asked = await fetch(`${url}/${at}.git/info/refs?service=git-receive-pack`, { headers: basic(token) });
      assert.deepEqual([asked.status, (await asked.text()).trim()], [403, text]);
    });
    assert.equal(move.state, 'replicated');
    for (const { work, push } of pushes) await work.git(...push);
    await pass(here);
    await performQueued(here.services, moveJobs);
    for (const [index, work] of works.entries())
      assert.equal(
        await work.git('ls-remote', remoteOf(url, paths[index]!, token), 'main'),
        `${await work.git('rev-parse', 'HEAD')}\trefs/heads/main`,
      );
  }
});

test('archives, blame and large files are read while a project moves, and large files are stored', async () => {
  const here = await movable();
  const { id } = here.project;
  const bytes = randomBytes(1_000);
  const object = objectFor(bytes);
  const move = await whileMoving(here, `/projects/${id}`, { project_id: id }, async () => {
    const reporter = here.as('reporter');
    assert.equal((await reporter.get(`/projects/${id}/repository/archive.tar.gz`)).status, 200);
    assert.equal((await reporter.get(`${fileUrl(here.project, 'README.md')}/blame`, { ref: 'main' })).status, 200);
    const { body } = await batch(here, 'developer', 'upload', [object]);
    const { href, header } = body.objects[0].actions.upload;
    assert.equal((await put(here, href, header.Authorization, bytes)).status, 200);
    const { body: download } = await batch(here, 'reporter', 'download', [object]);
    const action = download.objects[0].actions.download;
    const got = await fetch(`${here.url}${new URL(action.href).pathname}`, { headers: action.header });
    assert.deepEqual(Buffer.from(await got.arrayBuffer()), bytes);
  });
  assert.equal(move.state, 'replicated');
});

test('a push whose objects have arrived when a move starts is refused, and leaves nothing', async () => {
  const here = await movable();
  const { project, db, services } = here;
  const ssh = await sshFor(here);
  const { file } = await ssh.keyOf('maintainer');
  const repository = placeOf(services, { id: project.id, storage: 'default' });
  const objects = () => readdir(path.join(repository, 'objects'), { recursive: true });
  for (const [remote, with_key] of [
    [remoteFor(here, 'maintainer'), []],
    [ssh.remote(), withKey(file, ssh.hostKey)],
  ] as const) {
    const work = await clone(remote, ...with_key);
    const head = await work.commit('late.txt', remote);
    const before = await objects();
    const scheduled = { project_id: project.id, source_storage: 'default', destination_storage: 'second' };
    const { id } = await db
      .insertInto('repository_storage_moves')
      .values(scheduled)
      .returning('id')
      .executeTakeFirstOrThrow();
    const start = db.updateTable('repository_storage_moves').where('id', '=', id);
    const refused = await db.transaction().execute(async (tx) => {
      await sql`lock table reference_updates in share mode`.execute(tx);
      const pushing = work.refused('push', 'origin', 'main');
      await untilLockWaits(db);
      await start.set({ state: 'started' }).execute();
      return { pushing };
    });
    assert.match(await refused.pushing, new RegExp(`remote: (?:GitLab: )?${text}`));
    assert.deepEqual((await objects()).toSorted(), before.toSorted());
    assert.deepEqual(await db.selectFrom('reference_updates').selectAll().execute(), []);
    await start.set({ state: 'failed' }).execute();
    await work.git('push', '-q', 'origin', 'main');
    assert.equal(await work.git('ls-remote', 'origin', 'main'), `${head}\trefs/heads/main`);
  }
});

const packet = (line: string) => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;

/** Asks for a branch as a client does that reads slowly: nothing is read before the caller does. */
async function beginClone({ url, project, people }: World, head: string): Promise<IncomingMessage> {
  const asked = request(`${url}/${project.full_path}.git/git-upload-pack`, {
    method: 'POST',
    headers: { ...basic(people.reporter.token), 'content-type': 'application/x-git-upload-pack-request' },
  });
  asked.end(`${packet(`want ${head} ofs-delta\n`)}0000${packet('done\n')}`);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  return answer;
}

/** Reads the rest of a clone into a repository. */
async function endClone(answer: IncomingMessage, { folder }: WorkTree): Promise<void> {
  const unpacking = execFile('git', ['index-pack', '--stdin'], { cwd: folder });
  const ended = once(unpacking, 'exit');
  let isFirst = true;
  for await (const part of answer as AsyncIterable<Buffer>) {
    unpacking.stdin!.write(isFirst ? part.subarray(packet('NAK\n').length) : part);
    isFirst = false;
  }
  unpacking.stdin!.end();
  assert.deepEqual(await ended, [0, null]);
}

test('a clone that began before the switch ends whole, and the source stays until then', async () => {
  const here = await movable();
  const { services, project, db } = here;
  const work = await clone(remoteFor(here, 'maintainer'));
  // More than the buffers between server and client hold.
  const head = await work.commit('noise', randomBytes(32 * 1024 * 1024));
  await work.git('push', '-q', 'origin', 'main');
  const source = placeOf(services, { id: project.id, storage: 'default' });
  const reader = await clone(remoteFor(here, 'maintainer'), '--depth=1', '--no-checkout');
  const answer = await beginClone(here, head);
  const { id } = await moved(here, `/projects/${project.id}`);
  const { body: other } = await here.as('owner').post('/projects', { name: 'other', initialize_with_readme: true });
  const unread = await moved(here, `/projects/${other.id}`);
  const states = () =>
    db.selectFrom('repository_storage_moves').select('state').where('id', 'in', [id, unread.id]).orderBy('id');
  await closeReaders();
  // As the process does that serves the clone; the one that removes the source knows only what this has said.
  await followSwitches(services);
  await passGrace(here);
  await performQueued(services, moveJobs);
  assert.deepEqual(await states().execute(), [{ state: 'replicated' }, { state: 'finished' }]);
  assert.ok(existsSync(source));
  await endClone(answer, reader);
  assert.equal(await reader.git('cat-file', '-t', head), 'commit');
  await pass(here);
  await performQueued(services, moveJobs);
  assert.deepEqual(await states().execute(), [{ state: 'finished' }, { state: 'finished' }]);
  assert.ok(!existsSync(source));
});

test('a repository that is exported while it moves is exported whole', async () => {
  const here = await movable();
  const { services, project } = here;
  const work = await clone(remoteFor(here, 'maintainer'));
  // More than a pipe holds.
  const head = await work.commit('noise', randomBytes(8 * 1024 * 1024));
  await work.git('push', '-q', 'origin', 'main');
  const source = placeOf(services, { id: project.id, storage: 'default' });
  const bundle = streamBundle({ path: source }, new AbortController().signal);
  await once(bundle, 'readable');
  await moved(here, `/projects/${project.id}`);
  await closeReaders();
  await followSwitches(services);
  await passGrace(here);
  await performQueued(services, moveJobs);
  assert.ok(existsSync(source));
  const client = await gitClient();
  await writeFile(path.join(client.folder, 'all.bundle'), bundle);
  assert.equal((await client.run(['clone', '-q', 'all.bundle', 'copy'])).code, 0);
  assert.equal((await client.run(['rev-parse', 'HEAD'], { at: 'copy' })).stdout.trim(), head);
  await pass(here);
  await performQueued(services, moveJobs);
  assert.ok(!existsSync(source));
});
