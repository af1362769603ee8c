import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { world } from '../../../../test/support/world.ts';

test('quick actions in a comment are applied and removed from it', async () => {
  const here = await world();
  const { iid } = await addIssue(here);
  const at = `/projects/${here.project.id}/issues/${iid}`;
  const added = await here.as('planner').post(`${at}/notes`, { body: 'Enough of this.\n/close\n/title Done' });
  assert.equal(added.status, 201);
  assert.equal(added.body.body, 'Enough of this.');
  assert.equal(added.body.commands_changes.state_event, 'close');
  const issue = (await here.as('guest').get(at)).body;
  assert.deepEqual([issue.state, issue.title, issue.user_notes_count], ['closed', 'Done', 1]);
});

test('a text of quick actions only creates no comment', async () => {
  const here = await world();
  const { iid } = await addIssue(here);
  const at = `/projects/${here.project.id}/issues/${iid}`;
  for (const path of ['notes', 'discussions']) {
    const answer = await here.as('planner').post(`${at}/${path}`, { body: path === 'notes' ? '/close' : '/reopen' });
    assert.equal(answer.status, 202);
    assert.deepEqual(Object.keys(answer.body), ['commands_changes', 'summary']);
    assert.equal(answer.body.summary.length, 1);
  }
  const comment = (await here.as('guest').post(`${at}/notes`, { body: 'Here.' })).body;
  const [{ id }] = (await here.as('guest').get(`${at}/discussions`)).body;
  assert.equal((await here.as('planner').post(`${at}/discussions/${id}/notes`, { body: '/close' })).status, 202);
  // No reply was created, so the comment is still an individual one.
  const [single] = (await here.as('guest').get(`${at}/discussions`)).body;
  assert.deepEqual([single.individual_note, single.notes.length], [true, 1]);
  assert.equal((await here.as('guest').get(at)).body.user_notes_count, 1);

  const refused = await here.as('guest').post(`${at}/notes`, { body: '/title Mine' });
  assert.deepEqual([refused.status, refused.body.message], [400, '400 Bad request - Failed to apply commands.']);
  // A comment edited into quick actions only is deleted, unless none of them can be applied.
  const path = `${at}/notes/${comment.id}`;
  assert.equal((await here.as('guest').put(path, { body: '/title Mine' })).status, 400);
  assert.equal((await here.as('guest').get(path)).body.body, 'Here.');
  assert.equal((await here.as('maintainer').put(path, { body: '/reopen' })).status, 202);
  assert.equal((await here.as('guest').get(path)).status, 404);
  assert.equal((await here.as('guest').get(at)).body.state, 'opened');
});

test('drawings of quick actions, and quick actions in code, are part of the comment', async () => {
  const here = await world();
  const { iid } = await addIssue(here);
  const at = `/projects/${here.project.id}/issues/${iid}/notes`;
  const drawn = await here.as('guest').post(at, { body: '/shrug' });
  assert.equal(drawn.status, 201);
  assert.match(drawn.body.body, /ツ/);
  const code = '```\n/close\n```';
  assert.equal((await here.as('planner').post(at, { body: code })).body.body, code);
  assert.equal((await here.as('guest').get(`/projects/${here.project.id}/issues/${iid}`)).body.state, 'opened');
});
