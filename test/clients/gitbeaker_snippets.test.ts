/** The TypeScript client @gitbeaker/rest: snippets of projects and of users. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

const files = [
  { filePath: 'b.txt', content: 'bees' },
  { filePath: 'a.txt', content: 'apples' },
];

test('a project snippet is created, changed, read and removed', async () => {
  const here = await world();
  const { id: project_id } = here.project;
  const { ProjectSnippets } = clientFor(here, 'reporter');
  const made = await ProjectSnippets.create(project_id, 'Fruit', {
    description: 'Of all kinds',
    visibility: 'private',
    files,
  });
  assert.deepEqual([made.title, made.file_name, made.visibility], ['Fruit', 'a.txt', 'private']);
  const edited = await ProjectSnippets.edit(project_id, made.id, {
    files: [{ action: 'move', previousPath: 'a.txt', filePath: 'c.txt' }],
  });
  assert.equal(edited.file_name, 'b.txt');
  const read = (await ProjectSnippets.show(project_id, made.id)) as unknown as { files: { path: string }[] };
  assert.deepEqual(
    read.files.map(({ path }) => path),
    ['b.txt', 'c.txt'],
  );
  assert.equal(await ProjectSnippets.showContent(project_id, made.id), 'bees');
  assert.equal(await ProjectSnippets.showRepositoryFileContent(project_id, made.id, 'main', 'c.txt'), 'apples');
  assert.deepEqual(
    (await ProjectSnippets.all(project_id)).map(({ id }) => id),
    [made.id],
  );
  const agent = await clientFor(here, 'admin').ProjectSnippets.showUserAgentDetails(project_id, made.id);
  assert.equal(agent.ip_address, '127.0.0.1');
  const refused = await refusal(clientFor(here, 'developer').ProjectSnippets.remove(project_id, made.id));
  assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden']);
  await ProjectSnippets.remove(project_id, made.id);
  assert.deepEqual(await ProjectSnippets.all(project_id), []);
});

test('a personal snippet is created, listed and removed', async () => {
  const here = await world();
  const { Snippets } = clientFor(here, 'outsider');
  const made = await Snippets.create('Mine', { visibility: 'public', files });
  assert.equal(await Snippets.showContent(made.id), 'apples');
  assert.deepEqual(
    (await Snippets.all()).map(({ id }) => id),
    [made.id],
  );
  assert.ok((await clientFor(here, 'guest').Snippets.all({ public: true })).some(({ id }) => id === made.id));
  assert.equal((await Snippets.edit(made.id, { description: 'Changed' })).description, 'Changed');
  await Snippets.remove(made.id);
  assert.equal((await refusal(Snippets.show(made.id))).status, 404);
});
