import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commitTo, put, someone, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import { runs } from '../../test/support/runs.ts';
import { parseCommit, titleOf } from './commits.ts';
import {
  blame,
  changedFiles,
  commitStats,
  contributorsTo,
  countCommits,
  countLines,
  entryAt,
  GitError,
  git,
  gitLoad,
  LineOutOfRange,
  lastCommitOf,
  listCommits,
  type Repository,
  readCommit,
  updateRefs,
} from './index.ts';
import { trailersOf } from './trailers.ts';

const day = (number: number) => new Date(Date.UTC(2025, 0, number));

/** Four commits on main, one a day, the third by another author. */
async function history(repository: Repository): Promise<string[]> {
  const grace = { ...someone, name: 'Grace Hopper', email: 'grace@example.com' };
  const first = await commitTo(repository, {
    date: day(1),
    message: 'One',
    changes: [put('a', '1\n2\n3\n'), put('b', 'b\n')],
  });
  const second = await commitTo(repository, {
    parent: first,
    date: day(2),
    message: 'Two',
    changes: [put('a', '1\nzwei\n3\n')],
  });
  const third = await commitTo(repository, {
    parent: second,
    date: day(3),
    message: 'Three',
    author: grace,
    changes: [put('dir/c', 'c\n')],
  });
  const fourth = await commitTo(repository, {
    parent: third,
    date: day(4),
    message: 'Four',
    changes: [put('a', '1\nzwei\n3\n4\n')],
  });
  return [first, second, third, fourth];
}

test('commits are listed by path, date, author and page, newest first', async (t) => {
  const repository = await temporaryRepository(t);
  const from = [(await history(repository))[3]!];
  const titles = async (list: object) =>
    (await listCommits(repository, { from, ...list })).map(({ title }) => title).join(' ');
  assert.equal(await titles({}), 'Four Three Two One');
  assert.equal(await titles({ path: 'a' }), 'Four Two One');
  assert.equal(await titles({ path: 'dir' }), 'Three');
  assert.equal(await titles({ path: 'none' }), '');
  assert.equal(await titles({ since: day(2), until: day(3) }), 'Three Two');
  assert.equal(await titles({ author: 'grace@' }), 'Three');
  assert.equal(await titles({ author: '.*' }), '');
  assert.equal(await titles({ author: '--all' }), '');
  assert.equal(await titles({ skip: 1, limit: 2 }), 'Three Two');
  assert.equal(await titles({ order: 'topo', first_parent: true }), 'Four Three Two One');
  assert.equal(await titles({ from: [], all: true }), 'Four Three Two One');
  assert.equal(await titles({ from: [] }), '');
  assert.equal(await titles({ not_all: true }), '');
  assert.equal(await countCommits(repository, { from, path: 'a' }), 3);
  await assert.rejects(listCommits(repository, { from: ['main'] }), TypeError);
  await assert.rejects(listCommits(repository, { from: ['1'.repeat(40)] }), GitError);
});

test('a range of commits leaves out what both sides share', async (t) => {
  const repository = await temporaryRepository(t);
  const ids = await history(repository);
  const listed = await listCommits(repository, { from: [ids[3]!], not: [ids[1]!] });
  assert.deepEqual(
    listed.map(({ id }) => id),
    [ids[3], ids[2]],
  );
});

test('stats count the lines of each commit, a merge against its first parent', async (t) => {
  const repository = await temporaryRepository(t);
  const ids = await history(repository);
  const merge = (
    await userGit(repository.path, 'commit-tree', '-m', 'Merge', '-p', ids[1]!, '-p', ids[3]!, `${ids[3]}^{tree}`)
  ).trim();
  const same = (await userGit(repository.path, 'commit-tree', '-m', 'Same', '-p', merge, `${merge}^{tree}`)).trim();
  await updateRefs(repository, [{ ref: 'refs/heads/merged', old: null, new: same }]);
  const stats = async (from: string) =>
    Object.fromEntries(
      (await listCommits(repository, { from: [from], with_stats: true })).map(({ title, stats: s }) => [
        title,
        `+${s.additions} -${s.deletions} ${s.total}`,
      ]),
    );
  const expected = {
    Same: '+0 -0 0',
    Merge: '+2 -0 2',
    Four: '+1 -0 1',
    Three: '+1 -0 1',
    Two: '+1 -1 2',
    One: '+4 -0 4',
  };
  assert.deepEqual(await stats(same), expected);
  assert.deepEqual(await stats(same), expected);
});

test('the last commit of a path is the one that touched it', async (t) => {
  const repository = await temporaryRepository(t);
  const ids = await history(repository);
  for (const _ of ['asked', 'remembered']) {
    assert.equal(await lastCommitOf(repository, ids[3]!, 'dir'), ids[2]);
    assert.equal(await lastCommitOf(repository, ids[3]!, 'b'), ids[0]);
    assert.equal(await lastCommitOf(repository, ids[2]!, 'a'), ids[1]);
    assert.equal(await lastCommitOf(repository, ids[2]!, ''), ids[2]);
    assert.equal(await lastCommitOf(repository, ids[2]!, 'none'), undefined);
  }
});

test('blame groups lines by commit, within a range too', async (t) => {
  const repository = await temporaryRepository(t);
  const ids = await history(repository);
  const groups = async (range?: { start: number; end: number }) =>
    (await blame(repository, ids[3]!, 'a', range)).map(({ commit, lines }) => `${commit.title}: ${lines.join(' ')}`);
  assert.deepEqual(await groups(), ['One: 1', 'Two: zwei', 'One: 3', 'Four: 4']);
  assert.deepEqual(await groups({ start: 2, end: 3 }), ['Two: zwei', 'One: 3']);
  assert.deepEqual(await groups({ start: 4, end: 400 }), ['Four: 4']);
  await assert.rejects(
    groups({ start: 5, end: 6 }),
    (error) => error instanceof LineOutOfRange && error.line_count === 4,
  );
  await assert.rejects(blame(repository, ids[3]!, 'none'), GitError);
  await assert.rejects(blame(repository, ids[3]!, 'dir'), GitError);
});

test('blame keeps every line as it is', async (t) => {
  const repository = await temporaryRepository(t);
  const odd = Buffer.concat([Buffer.from('\ttab\r\n\nauthor x\n'), Buffer.from([0xff, 0x0a]), Buffer.from('  no end')]);
  const id = await commitTo(repository, { changes: [put('odd \n"name', odd), put('empty', '')] });
  const [group] = await blame(repository, id, 'odd \n"name');
  assert.deepEqual(group?.lines, ['\ttab\r', '', 'author x', '\ufffd', '  no end']);
  assert.equal(countLines(odd), 5);
  assert.deepEqual(await blame(repository, id, 'empty'), []);
  await assert.rejects(blame(repository, id, 'empty', { start: 1, end: 1 }), LineOutOfRange);
});

test('the files that differ between two commits are listed with their ids, and with sizes on request', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, {
    changes: [put('a', '1'), put('gone', '22'), put('old name', 'x\n'.repeat(50))],
  });
  const second = await commitTo(repository, {
    parent: first,
    changes: [
      put('a', '333'),
      { op: 'delete', path: 'gone' },
      { op: 'move', from: 'old name', path: 'new\n"name' },
      put('n', '4444'),
    ],
  });
  const files = await changedFiles(repository, { from: first, to: second, renames: true });
  assert.deepEqual(
    files.map(({ status, old_path, path }) => [status, old_path, path]),
    [
      ['modified', 'a', 'a'],
      ['deleted', 'gone', 'gone'],
      ['added', 'n', 'n'],
      ['renamed', 'old name', 'new\n"name'],
    ].sort((a, b) => (a[2]! < b[2]! ? -1 : 1)),
  );
  const added = await changedFiles(repository, { from: null, to: first });
  assert.deepEqual(
    added.map(({ status, path }) => `${status} ${path}`),
    ['added a', 'added gone', 'added old name'],
  );
});

test('a title is the first line, truncated at a word when it is long', () => {
  assert.equal(titleOf('One\nTwo'), 'One');
  assert.equal(titleOf('\n\n One \n'), 'One');
  assert.equal(titleOf(''), '');
  const long = `${'word '.repeat(15)}longer than that`;
  assert.equal(titleOf('x'.repeat(80)), 'x'.repeat(80));
  assert.equal(titleOf('x'.repeat(81)), `${'x'.repeat(79)}…`);
  assert.equal(titleOf(long), `${'word '.repeat(15).trim()}…`);
  assert.ok([...titleOf('🙂'.repeat(100))].length === 80);
});

test('a commit in an old encoding or with malformed headers is read as far as possible', () => {
  const head =
    'tree 1\nauthor J\xf6rg <j@x> 1700000000 +0100\ncommitter <> 99999999999999 +0000\nencoding ISO-8859-1\ngpgsig a\n parent 9\n';
  const commit = parseCommit('1', Buffer.from(`${head}\nGr\xfc\xdfe`, 'latin1'));
  assert.equal(commit.author_name, 'Jörg');
  assert.equal(commit.authored_date, '2023-11-14T22:13:20.000Z');
  assert.equal(commit.message, 'Grüße');
  assert.deepEqual(
    [commit.committer_name, commit.committed_date, commit.parent_ids],
    ['', '1970-01-01T00:00:00.000Z', []],
  );
  assert.equal(parseCommit('1', Buffer.from('tree 1\n\n\xff', 'latin1')).message, '\ufffd');
  assert.equal(parseCommit('1', Buffer.from('nonsense')).message, '');
});

test('trailers are parsed as git parses them', async (t) => {
  const lines = [
    'Signed-off-by: A <a@b>',
    'Key: value',
    'Key: other',
    'not a trailer',
    '',
    '',
    '  continued',
    'A-b:c',
    'Empty:',
    'Spaced : x',
    '---',
    '(cherry picked from commit 1)',
    'x y: z',
    '# comment',
    'constructor: 1',
  ];
  const messages = fc.sample(fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 9 }), {
    numRuns: runs(50, 1000),
    seed: 3,
  });
  const repository = await temporaryRepository(t);
  let parent: string | null = null;
  const texts = [...messages.map((message) => message.join('\n')), 'Title\n\nKey: one\nKey: two\nFoo: bar'];
  await git(repository, 'config', [], ['core.fsync', 'none']);
  const tree = (await git(repository, 'mktree', [], [], [], { input: '' })).toString().trim();
  for (const text of texts) {
    const body: string = `tree ${tree}\n${parent ? `parent ${parent}\n` : ''}author A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n${text}`;
    parent = (await git(repository, 'hash-object', ['-tcommit', '-w', '--stdin'], [], [], { input: body }))
      .toString()
      .trim();
  }
  const format = '--format=%x01%(trailers:only=true,unfold=true,separator=%x02,key_value_separator=%x03)';
  const said = (await git(repository, 'log', ['-z', '--reverse', format], [parent!])).toString().split('\x01').slice(1);
  for (const [index, text] of texts.entries()) {
    const found = trailersOf(text).map(({ key, value }) => `${key}\x03${value}`);
    assert.deepEqual(found.join('\x02'), said[index]!.replace(/\0$/, ''), JSON.stringify(text));
  }
  const commit = await readCommit(repository, parent!);
  assert.deepEqual(commit.trailers, { Key: 'two', Foo: 'bar' });
  assert.deepEqual(commit.extended_trailers, { Key: ['one', 'two'], Foo: ['bar'] });
});

test('contributors are counted by email address, without merges', async (t) => {
  const repository = await temporaryRepository(t);
  const grace = { ...someone, name: 'Grace', email: 'grace@example.com' };
  const first = await commitTo(repository, { changes: [put('a', '1')] });
  const second = await commitTo(repository, {
    parent: first,
    author: { ...someone, name: 'A. L.' },
    changes: [put('a', '2')],
  });
  const third = await commitTo(repository, { parent: second, author: grace, changes: [put('a', '3')] });
  assert.deepEqual(await contributorsTo(repository, third), [
    { name: 'Grace', email: 'grace@example.com', commits: 1 },
    { name: 'A. L.', email: 'ada@example.com', commits: 2 },
  ]);
});

/** A history of merges in which files come, move, change and go, as a stream for `git fast-import`. Dates differ, but not in the order of the commits. */
const drawnHistory = fc.array(
  fc.record({
    parent: fc.nat(),
    merged: fc.option(fc.nat(), { freq: 3 }),
    minutes: fc.integer({ min: 0, max: 30 }),
    path: fc.constantFrom('a', 'b', 'dir/a', 'dir/deep/b', 'dir', 'x'),
    text: fc.option(fc.array(fc.constantFrom('1', '2', '3', '4\r', ''), { maxLength: 5 }), { freq: 5 }),
    end: fc.constantFrom('', '\n', '\0\n'),
    mode: fc.constantFrom('100644', '100644', '100644', '100755', '120000'),
  }),
  { minLength: 4, maxLength: 25 },
);

test('what is found without git is what git finds, whatever the history', async (t) => {
  for (const steps of fc.sample(drawnHistory, { numRuns: runs(2, 20), seed: 5 })) {
    const repository = await temporaryRepository(t);
    const stream: string[] = [];
    for (const [index, { parent, merged, minutes, path, text, end, mode }] of steps.entries()) {
      const time = 1_700_000_000 + (index * 10 + minutes) * 100 + index;
      stream.push(
        `commit refs/heads/${index}\nmark :${index + 1}\ncommitter A <a@example.com> ${time} +0000\ndata 1\nm`,
      );
      if (index > 0) stream.push(`from :${(parent % index) + 1}`);
      if (index > 1 && merged !== null && merged % index !== parent % index)
        stream.push(`merge :${(merged % index) + 1}`);
      const content = `${text?.join('\n')}${end}`;
      stream.push(text ? `M ${mode} inline ${path}\ndata ${content.length}\n${content}` : `D ${path}`);
    }
    await git(repository, 'fast-import', ['--quiet'], [], [], { input: stream.join('\n') });
    for (const [index] of steps.entries()) {
      const lines = async (command: string, options: `-${string}`[], ...paths: string[]) =>
        (await git(repository, command, options, [`refs/heads/${index}`], paths))
          .toString()
          .trim()
          .split('\n')
          .filter(Boolean);
      const [id] = await lines('rev-parse', ['--verify']);
      for (const first_parent of [false, true]) {
        const listed = await listCommits(repository, { from: [id!], skip: 1, limit: 3, first_parent });
        const options: `-${string}`[] = [
          '--skip=1',
          '--max-count=3',
          ...(first_parent ? (['--first-parent'] as const) : []),
        ];
        assert.deepEqual(
          listed.map((commit) => commit.id),
          await lines('rev-list', options),
        );
      }
      for (const path of ['a', 'b', 'dir/a', 'dir/deep', 'dir', 'none', 'dir//a']) {
        const [last] = await lines('rev-list', ['--max-count=1'], path);
        assert.equal(await lastCommitOf(repository, id!, path), last, `${index} ${path}`);
      }
      const lastOfA = await lastCommitOf(repository, id!, 'a');
      if (lastOfA && (await entryAt(repository, id!, 'a'))?.type === 'blob')
        assert.deepEqual(await blame(repository, lastOfA, 'a'), await blame(repository, id!, 'a'));
      const shown = await lines('log', [
        '-1',
        '--diff-merges=first-parent',
        '--find-renames',
        '--shortstat',
        '--format=',
      ]);
      const counted = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(shown.join())?.[1] ?? 0);
      const [stats] = await commitStats(repository, [id!]);
      assert.deepEqual(
        [stats!.additions, stats!.deletions],
        [counted('insertion'), counted('deletion')],
        JSON.stringify(steps),
      );
    }
  }
});

test('after commits of ours, what was there before is known without another process', async (t) => {
  const repository = await temporaryRepository(t);
  const [, , , fourth] = await history(repository);
  const last = await lastCommitOf(repository, fourth!, 'dir/c');
  await listCommits(repository, { from: [fourth!], limit: 3 });
  const fifth = await commitTo(repository, { parent: fourth!, date: day(5), changes: [put('a', '5\n')] });
  const before = gitLoad().started;
  assert.equal(await lastCommitOf(repository, fifth, 'dir/c'), last);
  assert.equal(await lastCommitOf(repository, fifth, 'a'), fifth);
  assert.equal((await listCommits(repository, { from: [fifth], limit: 3 })).length, 3);
  assert.deepEqual(await commitStats(repository, [fifth]), [{ additions: 1, deletions: 4, total: 5 }]);
  assert.equal(gitLoad().started, before);

  let head = fifth;
  for (let count = 0; count < 250; count++)
    head = await commitTo(repository, { parent: head, changes: [put('a', `${count}\n`)] });
  assert.equal(await lastCommitOf(repository, head, 'dir/c'), last);
  assert.equal(await lastCommitOf(repository, head, 'a'), head);
  assert.equal(gitLoad().started, before);
});
