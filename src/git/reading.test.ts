import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, cp, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { commitTo, put, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import {
  blobSize,
  closeReaders,
  entryAt,
  findBlob,
  git,
  readBlob,
  readCommit,
  resolveBranch,
  resolveCommit,
  streamBlob,
  updateRefs,
} from './index.ts';
import { storedObject } from './readers.ts';

test('a commit is found by branch, tag, id and abbreviated id, and by nothing else', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, { changes: [put('a', '1')] });
  const second = await commitTo(repository, { parent: first, changes: [put('a', '2')] });
  await updateRefs(repository, [
    { ref: 'refs/heads/feature/x', old: null, new: first },
    { ref: 'refs/tags/light', old: null, new: first },
    { ref: 'refs/heads/both', old: null, new: first },
    { ref: 'refs/tags/both', old: null, new: second },
    { ref: 'refs/coppice/hidden', old: null, new: second },
  ]);
  await userGit(repository.path, 'tag', '-a', '-m', 'One', 'annotated', first);

  for (const name of ['main', 'refs/heads/main', 'HEAD', second, second.slice(0, 8), second.toUpperCase()]) {
    assert.equal(await resolveCommit(repository, name), second, name);
  }
  const tag_object = (await git(repository, 'rev-parse', ['--verify'], ['refs/tags/annotated'])).toString().trim();
  for (const name of ['feature/x', 'light', 'annotated', 'refs/tags/annotated', tag_object]) {
    assert.equal(await resolveCommit(repository, name), first, name);
  }
  assert.equal(await resolveCommit(repository, 'both'), first);
  assert.equal(await resolveCommit(repository, 'both', { prefer: 'tag' }), second);
  assert.equal(await resolveBranch(repository, 'both'), first);
  assert.equal(await resolveBranch(repository, 'light'), undefined);

  await updateRefs(repository, [{ ref: `refs/heads/fix-g${first.slice(0, 7)}`, old: null, new: second }]);
  assert.equal(await resolveBranch(repository, `fix-g${first.slice(0, 7)}`), second);
  assert.equal(await resolveBranch(repository, `fix-g${first.slice(0, 8)}`), undefined);

  const tree = (await readCommit(repository, second)).tree_id;
  const nothing = [
    '',
    'none',
    'main~1',
    'main^',
    'main^{tree}',
    'main@{0}',
    '@',
    '@{-1}',
    ':/A',
    'main:a',
    `${first}..${second}`,
    '-x',
  ];
  const nor = [
    'coppice/hidden',
    'refs/coppice/hidden',
    'heads/main',
    tree,
    tree.slice(0, 8),
    second.slice(0, 3),
    'a\nb',
    'main\0',
    '../HEAD',
  ];
  for (const name of [...nothing, ...nor, `v1-0-g${second}`, `refs/heads/x-g${first.slice(0, 8)}`])
    assert.equal(await resolveCommit(repository, name), undefined, name);
});

test('a path leads to files, folders, links and submodules, and never out of the commit', async (t) => {
  const repository = await temporaryRepository(t);
  const blob = (await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input: '../../etc/passwd' }))
    .toString()
    .trim();
  const program = (await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input: '#!/bin/sh' }))
    .toString()
    .trim();
  const inner = (
    await git(repository, 'mktree', ['--missing'], [], [], {
      input: `100755 blob ${program}\trun\n120000 blob ${blob}\tlink\n160000 commit ${'1'.repeat(40)}\tmodule\n`,
    })
  )
    .toString()
    .trim();
  const root = (await git(repository, 'mktree', [], [], [], { input: `040000 tree ${inner}\tfolder\n` }))
    .toString()
    .trim();
  const id = (await userGit(repository.path, 'commit-tree', '-m', 'All kinds', root)).trim();

  const kinds = async (path: string) => {
    const entry = await entryAt(repository, id, path);
    return entry && `${entry.mode} ${entry.type} ${entry.name}`;
  };
  assert.equal(await kinds(''), '040000 tree ');
  assert.equal(await kinds('folder'), '040000 tree folder');
  assert.equal(await kinds('folder/run'), '100755 blob run');
  assert.equal(await kinds('folder/link'), '120000 symlink link');
  assert.equal(await kinds('folder/module'), '160000 commit module');
  const nothing = [
    'folder/',
    '/folder',
    'folder//run',
    './folder',
    'folder/..',
    'folder/../folder',
    'folder/link/x',
    'folder/run/x',
  ];
  for (const path of [...nothing, 'folder/module/x', 'FOLDER', 'folder/run\0'])
    assert.equal(await kinds(path), undefined, path);
  await assert.rejects(entryAt(repository, 'main', 'folder'), TypeError);
});

test('ten megabytes of random bytes are read back unchanged, whole and as a stream', async (t) => {
  const repository = await temporaryRepository(t);
  const content = randomBytes(10 * 1024 * 1024 + 1);
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const commit = await commitTo(repository, { changes: [put('noise.bin', content)] });
  const entry = await entryAt(repository, commit, 'noise.bin');
  assert.ok(entry);
  assert.equal(await blobSize(repository, entry.id), content.length);
  assert.equal(digest(await readBlob(repository, entry.id)), digest(content));
  assert.equal(
    digest(Buffer.concat(await streamBlob(repository, entry.id, { reader: 'server' }).toArray())),
    digest(content),
  );
  await assert.rejects(readBlob(repository, entry.id, 1000), RangeError);
  await assert.rejects(blobSize(repository, commit), /not a blob/);
});

test('hundreds of questions at once are each answered with their own object', async (t) => {
  const repository = await temporaryRepository(t);
  const texts = Array.from({ length: 120 }, (_, index) => `${index}\n`.repeat(index));
  const commit = await commitTo(repository, { changes: texts.map((text, index) => put(`f${index}`, text)) });
  const read = texts.map(async (_, index) => {
    const entry = await entryAt(repository, commit, `f${index}`);
    return (await readBlob(repository, entry!.id)).toString();
  });
  assert.deepEqual(await Promise.all(read), texts);
});

test('a question survives the end of its reader, and closing waits for the answers', async (t) => {
  const repository = await temporaryRepository(t);
  const commit = await commitTo(repository, { changes: [put('a', 'content')] });
  const asked = resolveBranch(repository, 'main');
  await closeReaders(repository);
  assert.equal(await asked, commit);
  assert.equal(await resolveBranch(repository, 'main'), commit);
});

test('a damaged object fails its own question and no other', async (t) => {
  const repository = await temporaryRepository(t);
  const commit = await commitTo(repository, { changes: [put('good', 'good'), put('bad', randomBytes(100_000))] });
  const bad = (await entryAt(repository, commit, 'bad'))!.id;
  const good = (await entryAt(repository, commit, 'good'))!.id;
  const file = join(repository.path, 'objects', bad.slice(0, 2), bad.slice(2));
  await chmod(file, 0o600); // git makes them read-only
  await truncate(file, 50_000);
  const answers = await Promise.allSettled([good, bad, good, bad, good].map((id) => storedObject(repository, id)));
  const texts = answers.map((answer) =>
    answer.status === 'fulfilled' ? answer.value?.content.toString() : answer.reason.name,
  );
  assert.deepEqual(texts, ['good', 'ReaderDied', 'good', 'ReaderDied', 'good']);
});

test('objects written while a reader is open are visible at once, also after packing', async (t) => {
  const repository = await temporaryRepository(t);
  let parent: string | null = null;
  for (let round = 0; round < 5; round++) {
    parent = await commitTo(repository, { parent, message: `Round ${round}`, changes: [put('a', `${round}`)] });
    assert.equal(await resolveCommit(repository, 'main'), parent);
    assert.equal(await resolveCommit(repository, parent.slice(0, 10)), parent);
    if (round === 2) await git(repository, 'repack', ['-a', '-d', '-q']);
    if (round === 3) await git(repository, 'pack-refs', ['--all']);
  }
});

test('more repositories than readers may run are all answered', async (t) => {
  const first = await temporaryRepository(t);
  const commit = await commitTo(first, { changes: [put('a', 'a')] });
  const copies = Array.from({ length: 30 }, (_, index) => ({ path: join(dirname(first.path), `copy${index}.git`) }));
  await Promise.all(copies.map((copy) => cp(first.path, copy.path, { recursive: true })));
  const found = await Promise.all([...copies, ...copies].map((copy) => resolveBranch(copy, 'main')));
  assert.ok(found.every((id) => id === commit));
});

test('a repository with SHA-256 ids is read and written the same way', async (t) => {
  const repository = await temporaryRepository(t, 'sha256');
  const first = await commitTo(repository, { changes: [put('folder/a', 'a')] });
  const second = await commitTo(repository, { parent: first, changes: [put('folder/b', 'b')] });
  assert.equal(second.length, 64);
  assert.equal(await resolveCommit(repository, second.slice(0, 40)), second);
  const entry = await entryAt(repository, second, 'folder/a');
  assert.equal((await readBlob(repository, entry!.id)).toString(), 'a');
  assert.match(await userGit(repository.path, 'fsck', '--strict'), /^(?!.*(error|missing))/s);
});

test('a blob is found by its full id only', async (t) => {
  const repository = await temporaryRepository(t);
  const commit = await commitTo(repository, { changes: [put('a', 'hello\n')] });
  assert.equal(await findBlob(repository, 'ce013625030ba8dba906f756967f9e9ca394464a'), 6);
  for (const id of ['ce013625', commit, 'f'.repeat(40), 'main:a'])
    assert.equal(await findBlob(repository, id), undefined, id);
});
