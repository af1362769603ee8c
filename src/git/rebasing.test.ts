import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { commitTo, put, someone, temporaryRepository } from '../../test/support/bare_repository.ts';
import { git, type Repository, readCommit, rebaseCommits, updateRefs } from './index.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** A branch and a commit beside it, with these bytes from its author on. */
async function besideMain(
  t: TestContext,
  texts: string,
): Promise<{ repository: Repository; onto: string; head: string }> {
  const repository = await temporaryRepository(t);
  const base = await commitTo(repository, { changes: [put('a', '1')] });
  await updateRefs(repository, [{ ref: 'refs/heads/topic', old: null, new: base }]);
  const plain = await commitTo(repository, { branch: 'topic', parent: base, changes: [put('b', '2')] });
  const onto = await commitTo(repository, { parent: base, changes: [put('c', '3')] });
  const { tree_id } = await readCommit(repository, plain);
  const input = Buffer.concat([Buffer.from(`tree ${tree_id}\nparent ${base}\n`), latin1(texts)]);
  const written = await git(repository, 'hash-object', ['-tcommit', '-w', '--stdin', '--literally'], [], [], { input });
  return { repository, onto, head: written.toString().trim() };
}

async function rebased(t: TestContext, texts: string): Promise<string> {
  const { repository, ...sides } = await besideMain(t, texts);
  const { head } = (await rebaseCommits(repository, { ...sides, committer: someone })) as { head: string };
  const content = (await git(repository, 'cat-file commit', [], [head])).toString('latin1');
  return content.slice(content.indexOf('author ')).replace(/^committer .*$/m, 'committer');
}

const author = 'author Jos\xe9 <jos\xe9@example.com> 1700000000 +0530\n';
const committer = 'committer A <a@example.com> 1700000000 -0800\n';

test('a rebase keeps the time zone of the author, and bytes that are not UTF-8', async (t) => {
  const message = '\nCaf\xe9\n\nAt length\xa0.\n\n';
  assert.equal(await rebased(t, `${author}${committer}${message}`), `${author}committer\n${message}`);
});

test('a rebase makes UTF-8 of what another encoding was declared for, and keeps what an unknown one was declared for', async (t) => {
  const message = '\nCaf\xe9\n';
  const inUtf8 = Buffer.from(`${author}committer\n${message}`).toString('latin1');
  assert.equal(await rebased(t, `${author}${committer}encoding ISO-8859-1\n${message}`), inUtf8);
  assert.equal(
    await rebased(t, `${author}${committer}encoding unheard-of\n${message}`),
    `${author}committer\n${message}`,
  );
});

test('a rebase mends an author that git would refuse', async (t) => {
  const odd = 'author Ada<ada@example.com> 1700000000\n';
  assert.equal(
    await rebased(t, `${odd}${committer}\nx\n`),
    'author Ada <ada@example.com> 1700000000 +0000\ncommitter\n\nx\n',
  );
});

test('a rebase keeps times beyond the calendar, and what can be read of a malformed one', async (t) => {
  const of = async (line: string) => (await rebased(t, `author ${line}\n${committer}\nx\n`)).split('\n', 1)[0];
  for (const kept of [
    'Ada <ada@example.com> 999999999999 +0530',
    'Ada <ada@example.com> 1000000000000 +0530',
    'Ada <ada@example.com> 99999999999999 -1130',
    'Ada <ada@example.com> 9223372036854775 +0000',
    'Ada <ada@example.com> -62135596801 +0530',
    'Ada <ada@example.com> -5 -0800',
  ])
    assert.equal(await of(kept), `author ${kept}`);
  assert.equal(
    await of('Ada<ada@example.com> 99999999999999 +0530'),
    'author Ada <ada@example.com> 99999999999999 +0530',
  );
  assert.equal(await of('Ada <ada@example.com>'), 'author Ada <ada@example.com> 0 +0000');
});
