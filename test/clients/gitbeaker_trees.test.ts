/** The TypeScript client @gitbeaker/rest: folders, blobs, archives, comparisons, contributors, languages and large files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Gitlab } from '@gitbeaker/rest';
import { objectFor, pointerFor, upload } from '../support/lfs.ts';
import { type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientOf = ({ url }: World, token: string) => new Gitlab({ host: url, token });
const file = (filePath: string, content = filePath) => ({ action: 'create' as const, filePath, content });

/** The world's project with some files, and the client of a maintainer. */
async function filled() {
  const here = await world();
  const api = clientOf(here, here.people.maintainer.token);
  const { id } = here.project;
  const files = ['README.md', 'docs/guide.md', 'docs/deep/er.md', 'src/main.ts', 'src/tool.rb'].map((path) =>
    file(path),
  );
  const first = await api.Commits.create(id, 'main', 'First', files);
  return { here, id, first, ...api };
}

test('a tree is read recursively with keyset pagination, and each file by its blob id', async () => {
  const { id, Repositories } = await filled();
  const all = await Repositories.allRepositoryTrees(id, { recursive: true, perPage: 2 });
  assert.deepEqual(
    all.map(({ path, type }) => `${type} ${path}`),
    [
      'tree docs',
      'tree docs/deep',
      'tree src',
      'blob README.md',
      'blob docs/deep/er.md',
      'blob docs/guide.md',
      'blob src/main.ts',
      'blob src/tool.rb',
    ],
  );
  const docs = await Repositories.allRepositoryTrees(id, { path: 'docs', ref: 'main' });
  assert.deepEqual(
    docs.map(({ name, mode }) => [name, mode]),
    [
      ['deep', '040000'],
      ['guide.md', '100644'],
    ],
  );
  const blob = await Repositories.showBlob(id, docs[1]!.id);
  assert.deepEqual(
    [blob.size, blob.encoding, Buffer.from(blob.content, 'base64').toString(), blob.sha],
    [13, 'base64', 'docs/guide.md', docs[1]!.id],
  );
  const raw: unknown = await Repositories.showBlobRaw(id, docs[1]!.id);
  assert.equal(raw instanceof Blob ? await raw.text() : raw, 'docs/guide.md');
  const missing = await refusal(Repositories.showBlob(id, 'f'.repeat(40)));
  assert.deepEqual([missing.status, missing.text], [404, '404 Blob Not Found']);
  const nowhere = await refusal(Repositories.allRepositoryTrees(id, { ref: 'nowhere' }));
  assert.deepEqual([nowhere.status, nowhere.text], [404, '404 Tree Not Found']);
});

test('branches are compared, and their merge base is found', async () => {
  const { id, first, Repositories, Commits } = await filled();
  const topic = await Commits.create(id, 'topic', 'On a branch', [file('topic')], { startBranch: 'main' });
  const main = await Commits.create(id, 'main', 'Meanwhile', [file('meanwhile')]);
  const compared = await Repositories.compare(id, 'main', 'topic');
  assert.deepEqual(
    [
      compared.commit.id,
      compared.commits?.map((commit) => commit.id),
      compared.compare_same_ref,
      compared.compare_timeout,
    ],
    [topic.id, [topic.id], false, false],
  );
  assert.deepEqual(
    compared.diffs?.map(({ new_path, new_file }) => [new_path, new_file]),
    [['topic', true]],
  );
  const straight = await Repositories.compare(id, 'main', 'topic', { straight: true });
  assert.deepEqual(
    straight.diffs?.map(({ new_path, deleted_file }) => [new_path, deleted_file]),
    [
      ['meanwhile', true],
      ['topic', false],
    ],
  );
  assert.equal((await Repositories.compare(id, main.id, main.id)).compare_same_ref, true);
  assert.equal((await Repositories.mergeBase(id, ['main', 'topic'])).id, first.id);
  const alone = await refusal(Repositories.mergeBase(id, ['main']));
  assert.deepEqual([alone.status, alone.text], [400, 'Provide at least 2 refs']);
  assert.deepEqual((await refusal(Repositories.compare(id, 'main', 'none'))).text, '404 Ref Not Found');
  const foreign = await refusal(Repositories.compare(id, 'main', 'topic', { fromProjectId: 2_000_000_000 }));
  assert.deepEqual(
    [foreign.status, foreign.text],
    [400, `Target project id:2000000000 is not a fork of project id:${id}`],
  );
});

test('contributors and languages are counted', async () => {
  const { id, Repositories, Commits, Projects, RepositoryFiles } = await filled();
  const ada = { authorName: 'Ada', authorEmail: 'ada@example.com' };
  await Commits.create(id, 'main', 'More', [file('more')], ada);
  await Commits.create(id, 'main', 'Most', [file('most')], ada);
  const contributors = await Repositories.allContributors(id, { orderBy: 'commits', sort: 'desc' });
  assert.deepEqual(contributors[0], { name: 'Ada', email: 'ada@example.com', commits: 2, additions: 0, deletions: 0 });
  assert.equal(contributors[1]?.commits, 1);
  await RepositoryFiles.edit(id, 'src/main.ts', 'main', 'x'.repeat(33), 'Longer');
  assert.deepEqual(await Projects.showLanguages(id), { TypeScript: 75, Ruby: 25 });
});

test('an archive contains the files, with large files instead of their pointers', async () => {
  const { here, id, Repositories, RepositoryFiles, Commits } = await filled();
  const large = Buffer.alloc(10_000, 'large ');
  assert.equal((await upload(here, 'developer', large)).status, 200);
  const pointer = pointerFor(objectFor(large));
  await Commits.create(id, 'main', 'Add a film', [
    file('.gitattributes', '*.film filter=lfs\n'),
    file('a.film', pointer),
  ]);
  assert.equal(await RepositoryFiles.showRaw(id, 'a.film', 'main'), pointer);
  const behind = (await RepositoryFiles.showRaw(id, 'a.film', 'main', { lfs: true })) as Blob;
  assert.ok(Buffer.from(await behind.arrayBuffer()).equals(large));

  const archive = await Repositories.showArchive(id, { fileType: 'tar.gz', sha: 'main' });
  const tar = gunzipSync(Buffer.from(await archive.arrayBuffer())).toString('latin1');
  for (const name of ['README.md', 'docs/deep/er.md', 'a.film']) assert.ok(tar.includes(`/${name}\0`), name);
  assert.ok(tar.includes(large.toString()) && !tar.includes(pointer));
  const part = await Repositories.showArchive(id, { fileType: 'tar', path: 'docs' });
  assert.ok(!(await part.text()).includes('README.md'));
  const zip = await Repositories.showArchive(id, { fileType: 'zip' });
  assert.equal((await zip.text()).slice(0, 2), 'PK');
  const missing = await refusal(Repositories.showArchive(id, { sha: 'none' }));
  assert.deepEqual([missing.status, missing.text], [404, '404 File Not Found']);
});
