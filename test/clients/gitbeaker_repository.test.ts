/** The TypeScript client @gitbeaker/rest: files, branches and commits, and the vulnerabilities of what they list. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';
import { oddPaths } from './odd_paths.ts';

/** The client of a maintainer, and a project of its own that begins with a README. */
async function workplace(here: World) {
  const { people, url } = here;
  const owner = new Gitlab({ host: url, token: people.owner.token });
  const { id } = await owner.Projects.create({ name: 'Work', namespaceId: here.group.id, initializeWithReadme: true });
  return { id, ...new Gitlab({ host: url, token: people.maintainer.token }) };
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

test('a file is created, read, blamed, updated and deleted', async () => {
  const { id, RepositoryFiles, Commits } = await workplace(await world());

  const created = await RepositoryFiles.create(id, 'docs/poem.txt', 'main', 'one\ntwo\nthree\n', 'Begin the poem');
  assert.deepEqual([created.file_path, created.branch], ['docs/poem.txt', 'main']);
  await RepositoryFiles.edit(id, 'docs/poem.txt', 'main', 'one\n2\nthree\n', 'Count better', {
    authorName: 'Ada Lovelace',
    authorEmail: 'ada@example.com',
  });
  const [change, beginning] = await Commits.all(id, { path: 'docs/poem.txt' });
  assert.deepEqual(
    [change?.title, change?.author_name, beginning?.title],
    ['Count better', 'Ada Lovelace', 'Begin the poem'],
  );

  const shown = await RepositoryFiles.show(id, 'docs/poem.txt', 'main');
  assert.equal(Buffer.from(shown.content, 'base64').toString(), 'one\n2\nthree\n');
  assert.equal(shown.content_sha256, sha256('one\n2\nthree\n'));
  assert.deepEqual(
    [shown.file_name, shown.size, shown.encoding, shown.ref, shown.commit_id, shown.last_commit_id],
    ['poem.txt', 12, 'base64', 'main', change?.id, change?.id],
  );
  const old = await RepositoryFiles.show(id, 'docs/poem.txt', beginning!.id);
  assert.equal(Buffer.from(old.content, 'base64').toString(), 'one\ntwo\nthree\n');
  const { data, headers } = await RepositoryFiles.showRaw(id, 'docs/poem.txt', 'main', { showExpanded: true });
  assert.equal(data, 'one\n2\nthree\n');
  assert.equal(headers['x-gitlab-blob-id'], shown.blob_id);

  const blame = await RepositoryFiles.allFileBlames(id, 'docs/poem.txt', 'main');
  const ranges = blame.map(({ commit, lines }) => [commit.id, lines]);
  assert.deepEqual(ranges, [
    [beginning!.id, ['one']],
    [change!.id, ['2']],
    [beginning!.id, ['three']],
  ]);
  const middle = await RepositoryFiles.allFileBlames(id, 'docs/poem.txt', 'main', { range: { start: 2, end: 2 } });
  assert.deepEqual(
    middle.map(({ lines }) => lines),
    [['2']],
  );

  await RepositoryFiles.remove(id, 'docs/poem.txt', 'main', 'Throw it away');
  const gone = await refusal(RepositoryFiles.show(id, 'docs/poem.txt', 'main'));
  assert.deepEqual([gone.status, gone.text], [404, '404 File Not Found']);
});

test('unusual file names work with create, show, raw, blame, edit and delete', async () => {
  const { id, RepositoryFiles } = await workplace(await world());
  for (const path of oddPaths) {
    const created = await RepositoryFiles.create(id, path, 'main', `first ${path}\n`, `Add ${path}`);
    assert.equal(created.file_path, path);
    await RepositoryFiles.edit(id, path, 'main', `second ${path}\n`, `Change ${path}`);
    const shown = await RepositoryFiles.show(id, path, 'main');
    assert.deepEqual([shown.file_path, shown.file_name], [path, path.split('/').at(-1)]);
    assert.equal(await RepositoryFiles.showRaw(id, path, 'main'), `second ${path}\n`);
    const [range] = await RepositoryFiles.allFileBlames(id, path, 'main');
    assert.deepEqual([range?.commit.message, range?.lines], [`Change ${path}`, [`second ${path}`]]);
    await RepositoryFiles.remove(id, path, 'main', `Remove ${path}`);
    assert.equal((await refusal(RepositoryFiles.show(id, path, 'main'))).status, 404);
  }
});

test('binary content is returned unchanged', async () => {
  const { id, RepositoryFiles } = await workplace(await world());
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167) % 256));
  await RepositoryFiles.create(id, 'noise.bin', 'main', bytes.toString('base64'), 'Add noise', { encoding: 'base64' });
  const raw = (await RepositoryFiles.showRaw(id, 'noise.bin', 'main')) as Blob;
  assert.equal(sha256(Buffer.from(await raw.arrayBuffer())), sha256(bytes));
  assert.equal((await RepositoryFiles.show(id, 'noise.bin', 'main')).content, bytes.toString('base64'));
});

test('an edit on a new branch starts it, and a stale edit is refused', async () => {
  const { id, RepositoryFiles, Branches, Commits } = await workplace(await world());
  await RepositoryFiles.create(id, 'a.txt', 'main', 'a', 'Add a');
  const { last_commit_id } = await RepositoryFiles.show(id, 'a.txt', 'main');
  await RepositoryFiles.edit(id, 'a.txt', 'topic', 'b', 'Try b', { startBranch: 'main' });
  assert.deepEqual((await Branches.show(id, 'topic')).commit.parent_ids, [last_commit_id]);
  assert.equal(await RepositoryFiles.showRaw(id, 'a.txt', 'main'), 'a');

  await RepositoryFiles.edit(id, 'a.txt', 'main', 'c', 'Decide for c');
  const { id: head } = (await Branches.show(id, 'main')).commit;
  const stale = await refusal(
    RepositoryFiles.edit(id, 'a.txt', 'main', 'd', 'Too late', { lastCommitId: last_commit_id }),
  );
  assert.deepEqual(
    [stale.status, stale.text],
    [400, 'You are attempting to update a file that has changed since you started editing it.'],
  );
  const twice = await refusal(RepositoryFiles.create(id, 'a.txt', 'main', 'e', 'Again'));
  assert.deepEqual([twice.status, twice.text], [400, 'A file with this name already exists']);
  const nowhere = await refusal(RepositoryFiles.create(id, 'b.txt', 'nowhere', 'f', 'No branch'));
  assert.deepEqual([nowhere.status, nowhere.text], [400, 'You can only create or edit files when you are on a branch']);
  assert.equal((await Commits.all(id))[0]?.id, head);
});

test('branches with any name are listed, created, shown and deleted', async () => {
  const { id, Branches, Commits } = await workplace(await world());
  const [first] = await Commits.all(id);
  for (const name of ['feature/50%+1', 'ünïcode', 'release-1.0.x', `it's"quoted"`, 'main.lock.not']) {
    const made = await Branches.create(id, name, 'main');
    assert.deepEqual([made.name, made.commit.id, made.default], [name, first?.id, false]);
    assert.equal((await Branches.show(id, name)).name, name);
    assert.deepEqual(
      (await Branches.all(id, { search: name })).map((branch) => branch.name),
      [name],
    );
    await Branches.remove(id, name);
    const gone = await refusal(Branches.show(id, name));
    assert.deepEqual([gone.status, gone.text], [404, '404 Branch Not Found']);
  }
  assert.deepEqual(
    (await Branches.all(id)).map(({ name }) => name),
    ['main'],
  );
  const refused = await refusal(Branches.remove(id, 'main'));
  assert.equal(refused.status, 400);
});

test('commits are paged, filtered and shown', async () => {
  const { id, RepositoryFiles, Commits } = await workplace(await world());
  for (let count = 1; count <= 6; count++) {
    const text = Array.from({ length: count }, (_, line) => `line ${line}\n`).join('');
    const act = count === 1 ? RepositoryFiles.create : RepositoryFiles.edit;
    await act.call(RepositoryFiles, id, 'log.txt', 'main', text, `Write line ${count}\n\nBecause.\n`);
  }
  const all = await Commits.all(id, { perPage: 2 });
  assert.deepEqual(
    all.map(({ title }) => title),
    [...[6, 5, 4, 3, 2, 1].map((count) => `Write line ${count}`), 'Initial commit'],
  );
  assert.equal((await Commits.all(id, { perPage: 3, page: 3 })).length, 1);
  assert.equal((await Commits.all(id, { path: 'README.md' })).length, 1);
  assert.deepEqual(
    (await Commits.all(id, { refName: all[4]!.id })).map(({ id: sha }) => sha),
    all.slice(4).map(({ id: sha }) => sha),
  );

  const shown = await Commits.show(id, all[0]!.short_id);
  assert.deepEqual(
    [shown.id, shown.message, shown.parent_ids],
    [all[0]!.id, 'Write line 6\n\nBecause.\n', [all[1]!.id]],
  );
  assert.deepEqual(shown.stats, { additions: 1, deletions: 0, total: 1 });
});

test('vulnerabilities are listed over pages to developers', async () => {
  const here = await world();
  const { id } = here.project;
  const found = ['CVE-2', 'CVE-1'].map((name, severity) => ({
    project_id: id,
    cluster: name,
    name,
    severity: severity + 4,
  }));
  await here.db.insertInto('vulnerabilities').values(found).execute();
  const clientFor = (persona: Persona) => new Gitlab({ host: here.url, token: here.people[persona].token });
  const listed = await clientFor('developer').ProjectVulnerabilities.all(id, { perPage: 1 });
  assert.deepEqual(
    listed.map(({ name, severity, state }) => [name, severity, state]),
    [
      ['CVE-1', 'critical', 'detected'],
      ['CVE-2', 'high', 'detected'],
    ],
  );
  assert.equal((await refusal(clientFor('reporter').ProjectVulnerabilities.all(id))).status, 403);
});
