/** The TypeScript client @gitbeaker/rest: moves of repositories between storages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('moves of projects, groups and snippets are scheduled, shown and listed', async () => {
  // It lists the moves of the whole server.
  const here = await world({});
  const { project, group } = here;
  const { body: snippet } = await here
    .as('owner')
    .post('/snippets', { title: 'One', files: [{ file_path: 'a', content: 'a' }] });
  const admin = clientFor(here, 'admin');
  const places = [
    { moves: admin.ProjectRepositoryStorageMoves, of: { projectId: project.id }, name: 'project', id: project.id },
    { moves: admin.GroupRepositoryStorageMoves, of: { groupId: group.id }, name: 'group', id: group.id },
    { moves: admin.SnippetRepositoryStorageMoves, of: { snippetId: snippet.id }, name: 'snippet', id: snippet.id },
  ];
  for (const { moves, of, name, id } of places) {
    const made = await moves.schedule('default', { ...of, destinationStorageName: 'default' });
    assert.deepEqual(
      [made.state, made.source_storage_name, made.destination_storage_name],
      ['scheduled', 'default', 'default'],
    );
    assert.equal((made[name] as { id: number }).id, id);
    assert.deepEqual(await moves.show(made.id), made);
    assert.deepEqual(await moves.show(made.id, of), made);
    assert.deepEqual(await moves.all(), [made]);
    assert.deepEqual(await moves.all(of), [made]);
    const again = await refusal(moves.schedule('default', { ...of, destinationStorageName: 'default' }));
    assert.equal(again.status, 400);
    const accepted = await moves.schedule('default', { destinationStorageName: 'default' });
    assert.equal(accepted.message, '202 Accepted');
    const unknown = await refusal(moves.schedule('attic', { destinationStorageName: 'default' }));
    assert.deepEqual([unknown.status, unknown.text], [400, 'source_storage_name does not have a valid value']);
  }
  const refused = await refusal(clientFor(here, 'owner').ProjectRepositoryStorageMoves.all({ projectId: project.id }));
  assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden']);
});
