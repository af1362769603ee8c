/** The TypeScript client @gitbeaker/rest: push rules. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { filledWorld } from '../support/repository.ts';
import type { Persona, World } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('the push rules of a project and a group are added, changed, enforced and removed', async () => {
  const here = await filledWorld();
  const { id } = here.project;
  const { ProjectPushRules, RepositoryFiles } = clientFor(here, 'maintainer');
  const { GroupPushRules } = clientFor(here, 'owner');
  // The client makes an empty object of the null that there is no rule.
  assert.deepEqual(await ProjectPushRules.show(id), {});

  const made = await ProjectPushRules.create(id, { commitMessageRegex: '^JIRA', maxFileSize: 5, preventSecrets: true });
  assert.deepEqual([made.commit_message_regex, made.max_file_size, made.prevent_secrets], ['^JIRA', 5, true]);
  const edited = await ProjectPushRules.edit(id, { maxFileSize: 6, rejectUnsignedCommits: true });
  assert.deepEqual(
    [edited.commit_message_regex, edited.max_file_size, edited.reject_unsigned_commits],
    ['^JIRA', 6, true],
  );
  assert.deepEqual(await ProjectPushRules.show(id), edited);
  const twice = await refusal(ProjectPushRules.create(id, { memberCheck: true }));
  assert.deepEqual([twice.status, twice.text], [422, 'Project push rule exists']);

  const bad = await refusal(RepositoryFiles.create(id, 'a.txt', 'main', 'x', 'Fix'));
  assert.deepEqual([bad.status, bad.text], [400, "Commit message does not follow the pattern '^JIRA'"]);
  await RepositoryFiles.create(id, 'a.txt', 'main', 'x', 'JIRA-1 Fix');

  const template = await GroupPushRules.create(here.group.id, { branchNameRegex: '^feature/', denyDeleteTag: true });
  assert.deepEqual([template.branch_name_regex, template.deny_delete_tag], ['^feature/', true]);
  assert.equal((await GroupPushRules.edit(here.group.id, { denyDeleteTag: false })).deny_delete_tag, false);
  await GroupPushRules.remove(here.group.id);
  assert.equal((await refusal(GroupPushRules.show(here.group.id))).status, 404);
  await ProjectPushRules.remove(id);
  assert.equal((await refusal(ProjectPushRules.remove(id))).text, '404 Push rule Not Found');
});
