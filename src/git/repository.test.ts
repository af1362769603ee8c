import assert from 'node:assert/strict';
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { commitTo, put, temporaryFolder, temporaryRepository } from '../../test/support/bare_repository.ts';
import { createRepository, deleteRepository, GitError, git, isEmpty, resolveCommit, setHead } from './index.ts';

test('a repository is created atomically, with its default branch, settings and parent folders', async (t) => {
  const folder = await temporaryFolder(t);
  const repository = await createRepository(join(folder, 'a', 'b', 'c.git'), { defaultBranch: 'trunk' });
  assert.equal((await git(repository, 'symbolic-ref', [], ['HEAD'])).toString(), 'refs/heads/trunk\n');
  assert.equal((await git(repository, 'config', ['--get'], ['receive.fsckObjects'])).toString(), 'true\n');
  assert.deepEqual(await readdir(join(folder, 'a', 'b')), ['c.git']);
  assert.equal(await isEmpty(repository), true);
});

test('every repository is identical to the first, which git creates', async (t) => {
  const folder = await temporaryFolder(t);
  const contents = async (name: string, objectFormat: 'sha1' | 'sha256') => {
    const { path } = await createRepository(join(folder, name), { defaultBranch: 'main', objectFormat });
    const found = await readdir(path, { recursive: true, withFileTypes: true });
    const texts = found.map(async (entry) => {
      const at = join(entry.parentPath, entry.name);
      return [relative(path, at), entry.isFile() ? await readFile(at, 'utf8') : ''];
    });
    return Object.fromEntries(await Promise.all(texts));
  };
  for (const format of ['sha1', 'sha256'] as const) {
    const first = await contents(`first-${format}`, format);
    assert.deepEqual(await contents(`second-${format}`, format), first);
    const repository = { path: join(folder, `second-${format}`) };
    assert.equal((await git(repository, 'rev-parse', ['--show-object-format'])).toString().trim(), format);
  }
});

test('a repository is not created over existing files, and a failed attempt leaves nothing', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', 'a')] });
  await assert.rejects(createRepository(repository.path, { defaultBranch: 'other' }));
  await assert.rejects(createRepository(`${repository.path}2`, { defaultBranch: '-x' }), GitError);
  assert.deepEqual(await readdir(dirname(repository.path)), ['project.git']);
  assert.equal(await resolveCommit(repository, 'main'), id);
});

test('the branch that HEAD names can be changed before and after it exists', async (t) => {
  const repository = await temporaryRepository(t);
  assert.equal(await resolveCommit(repository, 'HEAD'), undefined);
  const id = await commitTo(repository, { branch: 'next', changes: [put('a', 'a')] });
  assert.equal(await resolveCommit(repository, 'HEAD'), undefined);
  await setHead(repository, 'next');
  assert.equal(await resolveCommit(repository, 'HEAD'), id);
  assert.equal(await isEmpty(repository), false);
  await assert.rejects(setHead(repository, 'a..b'), GitError);
});

test('a repository is deleted, and deleting it again is not an error', async (t) => {
  const repository = await temporaryRepository(t);
  await commitTo(repository, { changes: [put('a', 'a')] });
  await deleteRepository(repository);
  await assert.rejects(access(repository.path));
  assert.deepEqual(await readdir(dirname(repository.path)), []);
  await deleteRepository(repository);
});

test('hooks inside a repository, e.g. from an import, do not run', async (t) => {
  const repository = await temporaryRepository(t);
  await mkdir(join(repository.path, 'hooks'));
  const hook = join(repository.path, 'hooks', 'reference-transaction');
  await writeFile(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  assert.match(await commitTo(repository, { changes: [put('a', 'a')] }), /^[0-9a-f]{40}$/);
});
