import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitTo, put, someone, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import {
  type Change,
  ChangeRefused,
  entryAt,
  git,
  pathProblem,
  readBlob,
  readCommit,
  resolveBranch,
  writeCommit,
} from './index.ts';

test('a commit is identical to one by git itself, and passes git fsck', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, {
    changes: [put('a', '1'), put('a.b', '2'), put('a-b/c', '3'), put('x/y/z', '4')],
  });
  const second = await commitTo(repository, {
    parent: first,
    message: 'Second\n\nSigned-off-by: Ada <ada@example.com>\n',
    changes: [put('x/y/new', '5'), { op: 'mode', path: 'a', mode: '100755' }, { op: 'delete', path: 'a-b/c' }],
  });
  assert.equal(
    (await git(repository, 'ls-tree', ['-r', '--format=%(objectmode) %(path)'], [second])).toString(),
    '100755 a\n100644 a.b\n100644 x/y/new\n100644 x/y/z\n',
  );
  const commit = await readCommit(repository, second);
  assert.deepEqual(commit.parent_ids, [first]);
  assert.equal(commit.message, 'Second\n\nSigned-off-by: Ada <ada@example.com>\n');
  assert.equal(commit.committed_date, '2025-03-01T12:00:00.000Z');
  assert.equal(await userGit(repository.path, 'fsck', '--strict', '--no-dangling'), '');
});

test('other work is done between the changes of a large commit', async (t) => {
  const repository = await temporaryRepository(t);
  let turns = 0;
  let isWriting = true;
  const count = () => {
    turns += 1;
    if (isWriting) setImmediate(count);
  };
  const turnsAt: number[] = [];
  const changes = Array.from({ length: 500 }, (_, index) => {
    const change = put(`file-${index}`, 'same');
    return Object.defineProperty({ ...change }, 'op', {
      get: () => {
        turnsAt.push(turns);
        return 'put' as const;
      },
    });
  });
  setImmediate(count);
  await commitTo(repository, { changes });
  isWriting = false;
  assert.equal(turnsAt.length, 500);
  assert.ok(turnsAt.at(-1)! - turnsAt[0]! >= 4, `${turnsAt[0]} to ${turnsAt.at(-1)}`);
});

test('unusual names are stored exactly', async (t) => {
  const repository = await temporaryRepository(t);
  const names = [
    'with space',
    'quote"s',
    "apostrophe's",
    'new\nline',
    'tab\t',
    'ünï/cødé',
    '日本語.txt',
    '*',
    '-rf',
    ':(top)',
    '\\back',
    'é',
    'e\u0301',
    '~',
    '...',
  ];
  const commit = await commitTo(repository, { changes: names.map((name) => put(`folder/${name}`, name)) });
  for (const name of names) {
    const entry = await entryAt(repository, commit, `folder/${name}`);
    assert.equal((await readBlob(repository, entry!.id)).toString(), name);
  }
  const listed = (await git(repository, 'ls-tree', ['-r', '-z', '--name-only'], [commit]))
    .toString()
    .split('\0')
    .slice(0, -1);
  assert.deepEqual(new Set(listed), new Set(names.map((name) => `folder/${name}`)));
});

test('a hundred nested folders are created with a file and deleted with it', async (t) => {
  const repository = await temporaryRepository(t);
  const path = `${Array.from({ length: 100 }, (_, index) => `d${index}`).join('/')}/file`;
  const first = await commitTo(repository, { changes: [put('keep', '1'), put(path, 'deep')] });
  assert.equal((await readBlob(repository, (await entryAt(repository, first, path))!.id)).toString(), 'deep');
  const second = await commitTo(repository, { parent: first, changes: [{ op: 'delete', path }] });
  assert.equal(await entryAt(repository, second, 'd0'), undefined);
  const empty = await commitTo(repository, { parent: second, changes: [{ op: 'delete', path: 'keep' }] });
  assert.equal((await readCommit(repository, empty)).tree_id, '4b825dc642cb6eb9a060e54bf8d69288fbee4904');
  assert.equal(await userGit(repository.path, 'fsck', '--strict', '--no-dangling'), '');
});

test('a file moves with its mode, and with new content if given', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, {
    changes: [{ op: 'put', path: 'bin/run', mode: '100755', content: Buffer.from('1') }, put('b', '2')],
  });
  const second = await commitTo(repository, {
    parent: first,
    changes: [
      { op: 'move', from: 'bin/run', path: 'bin' },
      { op: 'move', from: 'b', path: 'c/d', content: Buffer.from('3') },
    ],
  });
  const listed = await git(repository, 'ls-tree', ['-r', '--format=%(objectmode) %(path)'], [second]);
  assert.equal(listed.toString(), '100755 bin\n100644 c/d\n');
  assert.equal((await readBlob(repository, (await entryAt(repository, second, 'c/d'))!.id)).toString(), '3');
});

test('an invalid change is refused with its reason, and the branch does not move', async (t) => {
  const repository = await temporaryRepository(t);
  const parent = await commitTo(repository, { changes: [put('file', '1'), put('folder/a', '2')] });
  const refusals: [Change, ChangeRefused['reason']][] = [
    [{ op: 'delete', path: 'none' }, 'missing'],
    [{ op: 'delete', path: 'none/none' }, 'missing'],
    [{ op: 'delete', path: 'file/none' }, 'missing'],
    [{ op: 'delete', path: 'folder' }, 'not_a_file'],
    [put('folder', 'x'), 'not_a_file'],
    [put('file/x', 'x'), 'not_a_folder'],
    [{ op: 'move', from: 'none', path: 'x' }, 'missing'],
    [{ op: 'move', from: 'file', path: 'folder/a' }, 'exists'],
    [put('.git/config', 'x'), 'invalid_path'],
    [put('../x', 'x'), 'invalid_path'],
  ];
  for (const [change, reason] of refusals) {
    const made = writeCommit(repository, {
      parent,
      message: 'x',
      author: someone,
      committer: someone,
      changes: [change],
    });
    await assert.rejects(
      made,
      (error) => error instanceof ChangeRefused && error.reason === reason,
      JSON.stringify(change),
    );
  }
  assert.equal(await resolveBranch(repository, 'main'), parent);
});

test('a commit that changes nothing is reported', async (t) => {
  const repository = await temporaryRepository(t);
  const parent = await commitTo(repository, { changes: [put('a', '1')] });
  const write = (changes: Change[]) =>
    writeCommit(repository, { parent, message: 'x', author: someone, committer: someone, changes });
  assert.equal((await write([put('a', '1')])).is_changed, false);
  assert.equal((await write([])).is_changed, false);
  assert.equal((await write([put('a', '2')])).is_changed, true);
});

test('a name cannot break out of its header', async (t) => {
  const repository = await temporaryRepository(t);
  const author = { name: 'Eve <eve@x>\nparent 0', email: 'a>\n<b', date: someone.date };
  const id = await commitTo(repository, { author, changes: [put('a', '1')] });
  const commit = await readCommit(repository, id);
  assert.deepEqual(commit.parent_ids, []);
  assert.equal(commit.author_name, 'Eve eve@x parent 0');
  assert.equal(await userGit(repository.path, 'fsck', '--strict', '--no-dangling'), '');
});

test('paths that are harmful on some system are refused, and others are not', () => {
  for (const path of [
    'a',
    'a/b',
    '.gitignore',
    'a/.gitmodules',
    'git',
    '.github/x',
    'a..b',
    '...',
    'a.git',
    'git~2',
    'ü',
    ' ',
  ]) {
    assert.equal(pathProblem(path), undefined, path);
  }
  const relative = ['.', '..', 'a/../b', './a', 'a/.', '..\\a'];
  const git_folders = [
    '.git',
    '.git/config',
    'a/.git/x',
    '.GIT',
    '.Git/x',
    '.git.',
    '.git /x',
    '.git...',
    'git~1',
    'GIT~1/x',
    '.git::$INDEX_ALLOCATION',
    '.g\u200cit',
    '.git\\x',
  ];
  for (const path of ['', '/a', 'a/', 'a//b', 'a\0b', '\ud800', 'x'.repeat(5000), ...relative, ...git_folders]) {
    assert.notEqual(pathProblem(path), undefined, path);
  }
});
