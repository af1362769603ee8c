import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cloneFor,
  type NewCommit,
  setRule,
  stranger,
  toldBy,
  transports,
  tryCommit,
} from '../../../../test/support/pushing.ts';
import { filledWorld, headOf, repositoryIn } from '../../../../test/support/repository.ts';
import { updateRefs } from '../../../git/index.ts';
import type { Rule } from './rules.ts';

interface Case {
  rule: Partial<Rule>;
  refused: NewCommit & { branch?: string };
  accepted: NewCommit & { branch?: string };
  text: string;
}

const casesFor = ([name, email]: [string, string]): Case[] => [
  {
    rule: { commit_message_regex: '^JIRA-[0-9]+' },
    refused: { message: 'Fix JIRA-1' },
    accepted: { message: 'Fix\n\nJIRA-1: every line counts' },
    text: "Commit message does not follow the pattern '^JIRA-[0-9]+'",
  },
  {
    rule: { commit_message_regex: '(?-m)^JIRA' },
    refused: { message: 'Fix\n\nJIRA-1' },
    accepted: { message: 'JIRA-1' },
    text: "Commit message does not follow the pattern '(?-m)^JIRA'",
  },
  {
    rule: { commit_message_negative_regex: 'WIP$' },
    refused: { message: 'Fix, WIP' },
    accepted: { message: 'WIPe' },
    text: "Commit message contains the forbidden pattern 'WIP$'",
  },
  {
    rule: { branch_name_regex: '^feature/' },
    refused: { branch: 'topic' },
    accepted: { branch: 'feature/topic' },
    text: "Branch name 'topic' does not follow the pattern '^feature/'",
  },
  {
    rule: { author_email_regex: '@example\\.com$' },
    refused: { author: stranger, committer: [name, email] },
    accepted: {},
    text: "Author's email 'eve@elsewhere.test' does not follow the pattern '@example\\.com$'",
  },
  {
    rule: { author_email_regex: '@example\\.com$' },
    refused: { author: [name, email], committer: stranger },
    accepted: {},
    text: "Committer's email 'eve@elsewhere.test' does not follow the pattern '@example\\.com$'",
  },
  {
    rule: { commit_committer_check: true },
    refused: { author: [name, email], committer: stranger },
    accepted: { author: stranger, committer: [name, email.toUpperCase()] },
    text: "You cannot push commits for 'eve@elsewhere.test'. You can only push commits if the committer email is one of your own verified emails.",
  },
  {
    rule: { commit_committer_name_check: true },
    refused: { author: ['Somebody', email] },
    accepted: { author: stranger, committer: [name, email] },
    text: 'Your git author name is inconsistent with Coppice account name',
  },
  {
    rule: { reject_non_dco_commits: true },
    refused: { message: 'Fix\n\nSigned-off-by: nobody' },
    accepted: { message: 'Fix\n\nSigned-off-by: Ada <ada@example.com>' },
    text: 'Commit message must contain a DCO signoff',
  },
  { rule: { reject_unsigned_commits: true }, refused: {}, accepted: { signed: true }, text: 'Commit must be signed' },
  {
    rule: { member_check: true },
    refused: { author: stranger, committer: [name, email] },
    accepted: { author: [name, email.toUpperCase()], committer: [name, email] },
    text: "Author 'eve@elsewhere.test' is not a member of team",
  },
  {
    rule: { member_check: true },
    refused: { author: [name, email], committer: stranger },
    accepted: {},
    text: "Committer 'eve@elsewhere.test' is not a member of team",
  },
  {
    rule: { file_name_regex: '(?i)\\.exe$' },
    refused: { file: 'bin/Setup.EXE' },
    accepted: { file: 'bin/exe.txt' },
    text: 'File name bin/Setup.EXE was prohibited by the pattern "(?i)\\.exe$".',
  },
  {
    rule: { prevent_secrets: true },
    refused: { file: 'keys/id_rsa' },
    accepted: { file: 'keys/id_rsa.pub' },
    text: 'File name keys/id_rsa was prohibited by the pattern "id_rsa$".',
  },
  {
    rule: { prevent_secrets: true },
    refused: { file: 'config/server_rsa.pub' },
    accepted: { file: 'config/server.txt' },
    text: 'File name config/server_rsa.pub was prohibited by the pattern "(ssh|config)\\/(personal|server)_(rsa|dsa|ed25519|ecdsa|ecdsa_sk|ed25519_sk)".',
  },
  {
    rule: { max_file_size: 1 },
    refused: { file: 'a b.bin', content: Buffer.alloc(1024 * 1024 + 1, 'x') },
    accepted: { file: 'c.bin', content: Buffer.alloc(1024 * 1024, 'x') },
    text: 'File "a b.bin" is larger than the allowed size of 1 MB. Use Git LFS to manage this file.',
  },
];

test('every rule refuses violations and accepts everything else, over both transports', async () => {
  const here = await filledWorld();
  const clone = await cloneFor(here, 'developer');
  for (const { rule, refused, accepted, text } of casesFor(clone.person)) {
    await setRule(here, rule);
    for (const transport of transports) {
      const bad = await tryCommit(here, clone, transport, refused);
      assert.deepEqual([bad.code, bad.told, bad.moved], [1, [text], false], `${transport}: ${bad.stderr}`);
      assert.match(bad.stderr, /pre-receive hook declined/);
      const good = await tryCommit(here, clone, transport, accepted);
      assert.deepEqual([good.code, good.told, good.moved], [0, [], true], `${transport} ${text}: ${good.stderr}`);
    }
  }

  // Commits that came with the merge request of a fork have passed no rule of this project.
  await clone.begin('proposal');
  const proposed = await clone.commit({ message: 'Proposed' });
  const unruled = await here.as('owner').delete(`/projects/${here.project.id}/push_rule`);
  assert.equal(unruled.status, 204);
  assert.equal((await clone.push('http', 'proposal')).code, 0);
  await updateRefs(repositoryIn(here), [
    { ref: 'refs/merge-requests/1/head', old: null, new: proposed },
    { ref: 'refs/heads/proposal', old: proposed, new: null },
  ]);
  await setRule(here, { commit_message_regex: '^JIRA' });
  const again = await clone.push('http', 'proposal');
  assert.deepEqual([again.code, toldBy(again)], [1, ["Commit message does not follow the pattern '^JIRA'"]]);
  assert.equal(await headOf(here, 'proposal'), undefined);
});
