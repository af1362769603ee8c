// Runs in a process of its own: it counts the processes of git.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { cloneFor, setRule, stranger, toldBy, transports, tryCommit } from '../../../../test/support/pushing.ts';
import { filledWorld, headOf, repositoryIn } from '../../../../test/support/repository.ts';
import { gitLoad, resolveTag } from '../../../git/index.ts';
import { checkLimits } from './checks.ts';

test('a tag cannot be deleted by a push, but through the API', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'maintainer');
  await clone.git('tag', 'v1');
  assert.equal((await clone.push('http', 'v1')).code, 0);
  await setRule(here, { deny_delete_tag: true });
  for (const transport of transports) {
    const refused = await clone.push(transport, ':v1');
    assert.deepEqual([refused.code, toldBy(refused)], [1, ['You cannot delete a tag']]);
  }
  assert.notEqual(await resolveTag(repositoryIn(here), 'v1'), undefined);
  // Another tag can be made, and this one deleted in another way.
  assert.equal((await clone.push('http', 'HEAD:refs/tags/v2')).code, 0);
  assert.equal((await here.as('maintainer').delete(`/projects/${here.project.id}/repository/tags/v1`)).status, 204);
  await setRule(here, { deny_delete_tag: false });
  assert.equal((await clone.push('ssh', ':v2')).code, 0);
});

test('every violation is listed: branches first, then commits, files and sizes', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  const [name, email] = clone.person;
  await setRule(here, {
    branch_name_regex: '^ok',
    commit_message_regex: '^Good',
    commit_message_negative_regex: 'bad',
    author_email_regex: '@example\\.com$',
    commit_committer_check: true,
    commit_committer_name_check: true,
    reject_non_dco_commits: true,
    reject_unsigned_commits: true,
    member_check: true,
    file_name_regex: 'key$',
    prevent_secrets: true,
    max_file_size: 1,
  });
  const content = Buffer.alloc(1024 * 1024 + 1);
  const bad = await tryCommit(here, clone, 'http', {
    branch: 'x',
    message: 'a bad one',
    author: stranger,
    file: 'a.key',
    content,
  });
  assert.deepEqual(bad.told, [
    "Branch name 'x' does not follow the pattern '^ok'",
    "Commit message does not follow the pattern '^Good'",
    "Commit message contains the forbidden pattern 'bad'",
    "Committer's email 'eve@elsewhere.test' does not follow the pattern '@example\\.com$'",
    "Author's email 'eve@elsewhere.test' does not follow the pattern '@example\\.com$'",
    "You cannot push commits for 'eve@elsewhere.test'. You can only push commits if the committer email is one of your own verified emails.",
    'Your git author name is inconsistent with Coppice account name',
    'Commit message must contain a DCO signoff',
    'Commit must be signed',
    "Author 'eve@elsewhere.test' is not a member of team",
    'File name a.key was prohibited by the pattern "key$".',
    'File name a.key was prohibited by the pattern "\\.(pem|key)$".',
    'File "a.key" is larger than the allowed size of 1 MB. Use Git LFS to manage this file.',
  ]);
  assert.equal(bad.moved, false);
  const message = `Good\n\nSigned-off-by: ${name} <${email}>`;
  assert.equal((await tryCommit(here, clone, 'http', { branch: 'ok', message, signed: true })).code, 0);
});

test('an unverified address of the pusher is reported as such', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  const { id } = here.people.developer;
  await here.db
    .insertInto('emails')
    .values({ user_id: id, email: 'second@elsewhere.test', confirmed_at: null })
    .execute();
  await setRule(here, { commit_committer_check: true });
  const committer: [string, string] = [clone.person[0], 'Second@elsewhere.test'];
  const bad = await tryCommit(here, clone, 'ssh', { committer });
  assert.deepEqual(bad.told, ["Committer email 'Second@elsewhere.test' is not verified."]);
  const now = new Date().toISOString();
  await here.db.updateTable('emails').set({ confirmed_at: now }).where('email', '=', 'second@elsewhere.test').execute();
  assert.equal((await tryCommit(here, clone, 'ssh', { committer })).code, 0);
  const own: [string, string] = [clone.person[0], `${id}-${here.people.developer.username}@users.noreply.coppice.test`];
  await setRule(here, { commit_committer_check: true, member_check: true });
  assert.equal((await tryCommit(here, clone, 'ssh', { author: own })).code, 0);
});

test('only new commits and added files count', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await clone.begin('before');
  await clone.commit({ message: 'Old', file: 'old.exe', content: Buffer.alloc(2 * 1024 * 1024) });
  assert.equal((await clone.push('http', 'before')).code, 0);
  await setRule(here, { commit_message_regex: '^New', file_name_regex: '\\.exe$', max_file_size: 1 });
  // The commit is there already, on another branch.
  assert.equal((await clone.push('http', 'before:refs/heads/copy', 'before:refs/tags/copy')).code, 0);
  await clone.commit({ message: 'New', file: 'old.exe', content: 'changed' });
  await clone.git('rm', '-q', 'old.exe');
  await clone.git('commit', '-q', '-m', 'New without it');
  assert.equal((await clone.push('http', 'before')).code, 0);
  // Renaming adds a file.
  await clone.commit({ message: 'New', file: 'a.txt', content: 'a' });
  await clone.git('mv', 'a.txt', 'a.exe');
  await clone.git('commit', '-q', '-m', 'New name');
  const renamed = await clone.push('ssh', 'before');
  assert.deepEqual(toldBy(renamed), ['File name a.exe was prohibited by the pattern "\\.exe$".']);
});

test('a merge adds the files that none of its parents has', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await clone.begin('side');
  await clone.commit({ file: 'side.txt' });
  await clone.begin('trunk');
  await clone.commit({ file: 'trunk.txt' });
  await setRule(here, { file_name_regex: '(side|extra)\\.txt$' });
  await clone.git('merge', '-q', '--no-commit', 'side');
  const merged = await clone.commit({ message: 'Merge', file: 'extra.txt' });
  assert.equal((await clone.git('rev-list', '--parents', '-n1', merged)).split(' ').length, 3);
  const refused = await clone.push('http', 'trunk');
  assert.deepEqual(toldBy(refused).sort(), [
    'File name extra.txt was prohibited by the pattern "(side|extra)\\.txt$".',
    'File name side.txt was prohibited by the pattern "(side|extra)\\.txt$".',
  ]);
});

test('a tag cannot bypass the rules, and the default branch may have any name', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'maintainer');
  await setRule(here, { commit_message_regex: '^Good', branch_name_regex: '^feature/' });
  await clone.begin('local');
  await clone.commit({ message: 'Bad' });
  await clone.git('tag', '-a', '-m', 'Annotated', 'v1');
  await clone.git('tag', 'v2');
  for (const tag of ['v1', 'v2']) {
    const refused = await clone.push('http', tag);
    assert.deepEqual([refused.code, toldBy(refused)], [1, ["Commit message does not follow the pattern '^Good'"]]);
    assert.equal(await resolveTag(repositoryIn(here), tag), undefined);
  }
  await clone.begin('other');
  await clone.commit({ message: 'Good' });
  await clone.git('tag', '-a', '-m', 'Annotated', 'v3');
  assert.equal((await clone.push('http', 'v3', 'other:main')).code, 0);
  assert.equal((await clone.push('http', 'other:refs/heads/feature/x')).code, 0);
  // A branch that is deleted may have any name, too.
  await setRule(here, { branch_name_regex: '^other/' });
  assert.equal((await clone.push('http', ':feature/x')).code, 0);
});

test('files in Git LFS are exempt from the size limit', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await setRule(here, { max_file_size: 1 });
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 99999999\n`;
  const pushed = await tryCommit(here, clone, 'http', { file: 'large.bin', content: pointer });
  // Whether its object is there is another check.
  assert.deepEqual(pushed.told, [
    'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".',
  ]);
});

test('twenty violations are listed, and the number of the others', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await setRule(here, { commit_message_regex: '^Good' });
  await clone.begin('many');
  for (let count = 0; count < 22; count++) await clone.commit({ message: 'Bad' });
  const refused = await clone.push('http', 'many');
  const text = "Commit message does not follow the pattern '^Good'";
  assert.deepEqual(toldBy(refused), [...Array.from({ length: 20 }, () => text), '2 more violations are not shown.']);
  await clone.git('reset', '-q', '--hard', 'HEAD~1');
  assert.equal(toldBy(await clone.push('http', 'many')).at(-1), '1 more violation is not shown.');
});

/** Commits of five files each, as `git fast-import` reads them. */
function importOf(count: number, [name, email]: [string, string], message: (index: number) => string): string {
  const parts: string[] = [];
  for (let index = 0; index < count; index++) {
    const text = message(index);
    const person = `${name} <${email}> ${1_700_000_000 + index} +0000`;
    parts.push(
      `commit refs/heads/mass\nauthor ${person}\ncommitter ${person}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
    );
    if (index === 0) parts.push('from refs/remotes/origin/main\n');
    for (let file = 0; file < 5; file++) {
      const content = `${index} ${file}\n`;
      parts.push(`M 100644 inline d${index % 50}/f${index}-${file}.txt\ndata ${content.length}\n${content}\n`);
    }
  }
  return parts.join('');
}

test('a push of thousands of commits is checked with a few processes', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  const count = 3_000;
  await setRule(here, {
    commit_message_regex: '^Good',
    commit_message_negative_regex: 'WIP',
    branch_name_regex: '^m',
    author_email_regex: '@example\\.com$',
    file_name_regex: '\\.exe$',
    prevent_secrets: true,
    member_check: true,
    commit_committer_check: true,
    commit_committer_name_check: true,
    reject_non_dco_commits: true,
    max_file_size: 1,
  });
  const good = `Good\n\nSigned-off-by: Ada <ada@example.com>\n`;
  await clone.import(importOf(count, clone.person, (index) => (index === 7 ? 'Bad\n' : good)));
  const refused = await clone.push('http', 'mass');
  assert.deepEqual(toldBy(refused), [
    "Commit message does not follow the pattern '^Good'",
    'Commit message must contain a DCO signoff',
  ]);
  assert.equal(await headOf(here, 'mass'), undefined);

  await clone.import(importOf(count, clone.person, () => good));
  const before = gitLoad().started;
  const accepted = await clone.push('http', 'mass');
  assert.equal(accepted.code, 0, accepted.stderr);
  assert.notEqual(await headOf(here, 'mass'), undefined);
  assert.ok(gitLoad().started - before < 30, `${gitLoad().started - before} processes`);
});

test('a check that times out or fails refuses the push', async (t) => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await setRule(here, { commit_message_regex: '^Good' });
  await clone.begin('late');
  await clone.commit({ message: 'Good' });
  const { budget_ms } = checkLimits;
  t.after(() => Object.assign(checkLimits, { budget_ms }));
  Object.assign(checkLimits, { budget_ms: 0 });
  for (const transport of transports)
    assert.deepEqual(toldBy(await clone.push(transport, 'late')), ['Push operation timed out']);
  Object.assign(checkLimits, { budget_ms });
  // Such an expression cannot be set, but an older version may have stored it.
  await here.db
    .updateTable('push_rules')
    .set({ commit_message_regex: '(' })
    .where('project_id', '=', here.project.id)
    .execute();
  assert.deepEqual(toldBy(await clone.push('http', 'late')), [
    "Regular expression '(' is invalid: missing closing ): `(`",
  ]);
  assert.equal(await headOf(here, 'late'), undefined);
  await setRule(here, { commit_message_regex: '^Good' });
  assert.equal((await clone.push('http', 'late')).code, 0);
});

test('a message that is too long to be checked is refused', async () => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await setRule(here, { commit_message_negative_regex: 'WIP' });
  const [name, email] = clone.person;
  const person = `${name} <${email}> 1700000000 +0000`;
  const message = `${'a'.repeat(1024 * 1024)}WIP`;
  const input = (text: string) =>
    `commit refs/heads/long\nauthor ${person}\ncommitter ${person}\ndata ${text.length}\n${text}\nfrom refs/remotes/origin/main\n`;
  await clone.import(input(message));
  assert.deepEqual(toldBy(await clone.push('http', 'long')), [
    'Commit message is longer than 1 MiB, so that it cannot be checked',
  ]);
  await clone.import(input('a'.repeat(1024 * 1024)));
  assert.equal((await clone.push('http', 'long')).code, 0);
});

test('without the plan no rule is enforced', async (t) => {
  const here = await filledWorld({});
  const clone = await cloneFor(here, 'developer');
  await setRule(here, { commit_message_regex: '^Good' });
  t.after(() => changePlan(here, 'ultimate'));
  assert.equal((await tryCommit(here, clone, 'http', { message: 'Bad' })).moved, false);
  await changePlan(here, 'free');
  assert.equal((await tryCommit(here, clone, 'http', { message: 'Bad' })).code, 0);
  await changePlan(here, 'premium');
  assert.equal((await tryCommit(here, clone, 'http', { message: 'Worse' })).code, 1);
});
