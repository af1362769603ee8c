/** The TypeScript client @gitbeaker/rest: searching everything, a group and a project. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { addIssue } from '../support/issues.ts';
import { filledWorld } from '../support/repository.ts';

test('issues, users and code are found at each level', async () => {
  const here = await filledWorld();
  const word = `greengage_${process.pid}`;
  await addIssue(here, { title: `Prune ${word}` });
  const { Search } = new Gitlab({ host: here.url, token: here.people.developer.token });
  for (const place of [{}, { groupId: here.group.id }, { projectId: here.project.id }]) {
    const issues = await Search.all('issues', word, place);
    assert.deepEqual(
      issues.map(({ title }) => title),
      [`Prune ${word}`],
    );
    const blobs = await Search.all('blobs', 'README', { ...place, perPage: 1, maxPages: 1 });
    assert.equal(blobs.length, 1);
  }
  const [user] = await Search.all('users', here.people.owner.username);
  assert.equal(user!.username, here.people.owner.username);
});
