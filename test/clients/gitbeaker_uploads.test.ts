/** The TypeScript client @gitbeaker/rest: files for the texts of projects and groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('files are uploaded, listed, downloaded by ID and by secret, and deleted', async () => {
  const here = await world();
  const { project, group, people } = here;
  const guest = clientFor(here, 'guest');
  const { ProjectMarkdownUploads, GroupMarkdownUploads } = clientFor(here, 'maintainer');
  const image = { content: new Blob(['pixels']), filename: 'load graph.png' };
  const made = await guest.ProjectMarkdownUploads.create(project.id, image);
  assert.equal(made.markdown, `![load_graph](${made.url})`);
  assert.equal((await guest.Projects.uploadForReference(project.id, image)).alt, 'load_graph');
  const [, , secret, filename] = made.url.split('/') as [string, string, string, string];
  assert.equal(await (await guest.ProjectMarkdownUploads.download(project.id, secret, filename)).text(), 'pixels');
  const refused = await refusal(guest.ProjectMarkdownUploads.all(project.id));
  assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden']);

  const [last, first] = await ProjectMarkdownUploads.all(project.id, { perPage: 1 });
  assert.deepEqual(
    [first?.id, first?.filename, first?.size, first?.uploaded_by?.username],
    [made.id, 'load_graph.png', 6, people.guest.username],
  );
  assert.equal(await (await ProjectMarkdownUploads.download(project.id, last!.id)).text(), 'pixels');
  await ProjectMarkdownUploads.remove(project.id, last!.id);
  await ProjectMarkdownUploads.remove(project.id, secret, filename);
  assert.deepEqual(await ProjectMarkdownUploads.all(project.id), []);
  assert.deepEqual(await GroupMarkdownUploads.all(group.id), []);
});
