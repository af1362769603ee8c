import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../../test/support/git.ts';
import { performJob } from '../../../../../test/support/jobs.ts';
import { fileUrl, filledWorld, onMain, repositoryIn } from '../../../../../test/support/repository.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { findReadmes } from './jobs.ts';

/** The addresses below those of files, in the project itself and in the list. */
async function readmeIn({ as, project, services }: World): Promise<string | null> {
  const { body } = await as('reporter').get(`/projects/${project.id}`);
  const listed = (await as('reporter').get('/projects', { id_after: project.id - 1, sort: 'asc', simple: true })).body;
  assert.equal(listed[0].readme_url, body.readme_url);
  const files = `${services.url}/${project.full_path}/-/blob/`;
  if (body.readme_url !== null) assert.ok(body.readme_url.startsWith(files), body.readme_url);
  return body.readme_url?.slice(files.length) ?? null;
}

test('the README comes from the default branch, whatever its name, and a rendered format takes precedence', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  const put = async (path: string, branch = 'main') => {
    const file = { ...onMain, branch, content: path };
    assert.equal((await here.as('maintainer').post(fileUrl(here.project, path), file)).status, 201);
  };
  assert.equal(await readmeIn(here), null);
  await put('doc/README.md');
  await put('README.md.orig');
  assert.equal(await readmeIn(here), null, 'neither below a folder nor with another name');
  await put('readme.rst');
  assert.equal(await readmeIn(here), 'main/readme.rst');
  await put('ReadMe.markdown');
  assert.equal(await readmeIn(here), 'main/ReadMe.markdown');

  const next = await here.as('maintainer').post(`${url}/repository/branches`, { branch: 'next#1', ref: 'main' });
  assert.equal(next.status, 201);
  const removed = { branch: 'next#1', commit_message: 'Remove' };
  assert.equal((await here.as('maintainer').delete(fileUrl(here.project, 'ReadMe.markdown'), removed)).status, 204);
  assert.equal(await readmeIn(here), 'main/ReadMe.markdown', 'another branch');
  const chosen = await here.as('maintainer').put(url, { default_branch: 'next#1' });
  assert.equal(chosen.body.readme_url?.split('/-/blob/')[1], 'next%231/readme.rst');
  assert.equal(await readmeIn(here), 'next%231/readme.rst');
});

test('the README of the first push comes from the branch that the project opens with, and symbolic links are ignored', async () => {
  const here = await world();
  const { run } = await gitClient();
  await run(['init', '-q']);
  const remote = remoteOf(here.url, here.project.full_path, here.people.maintainer.token);
  const push = async (entry: string) => {
    const input = `commit refs/heads/begun\ncommitter A <a@b.c> 1 +0000\ndata 5\nBegin\nM ${entry}\ndata 6\nReadme\n\n`;
    await run(['fast-import', '--quiet', '--force'], { input });
    assert.equal((await run(['push', '-q', '-f', remote, 'begun:refs/heads/trunk'])).code, 0);
  };
  await push('100644 inline Readme');
  assert.equal(await readmeIn(here), 'trunk/Readme');
  await here.as('maintainer').delete(`/projects/${here.project.id}/protected_branches/trunk`);
  await push('120000 inline README.md');
  assert.equal(await readmeIn(here), null);
});

test('missing READMEs are detected in the background, and again after a repository was lost', async () => {
  const [here, broken] = [await filledWorld(), await filledWorld()];
  const { path } = repositoryIn(broken);
  const ids = [here.project.id, broken.project.id];
  await here.db.updateTable('projects').set({ readme_path: null }).where('id', 'in', ids).execute();
  await rename(path, `${path}.away`);
  await performJob(here.services, findReadmes);
  assert.deepEqual([await readmeIn(here), await readmeIn(broken)], ['main/README.md', null]);
  await rename(`${path}.away`, path);
  await performJob(here.services, findReadmes);
  assert.equal(await readmeIn(broken), 'main/README.md');
});
