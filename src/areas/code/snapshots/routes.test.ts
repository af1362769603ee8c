import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../test/support/bare_repository.ts';
import { gitClient } from '../../../../test/support/git.ts';
import { filledWorld, headOf, repositoryIn } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { maintain } from '../../../git/index.ts';

/** Downloads and unpacks a snapshot. */
async function unpacked(t: TestContext, { url, people, project }: World, query = ''): Promise<string> {
  const answer = await fetch(`${url}/api/v4/projects/${project.id}/snapshot${query}`, {
    headers: { 'private-token': people.admin.token },
  });
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/x-tar']);
  const folder = await temporaryFolder(t);
  await writeFile(path.join(folder, 'snapshot.tar'), Buffer.from(await answer.arrayBuffer()));
  const bare = await mkdtemp(path.join(folder, 'bare-'));
  execFileSync('tar', ['-xf', path.join(folder, 'snapshot.tar'), '-C', bare]);
  return bare;
}

test('git clones from a snapshot, even if it was taken during maintenance of the repository', async (t) => {
  const here = await filledWorld();
  const { as, project } = here;
  await as('maintainer').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  for (let round = 0; round < 2; round++) {
    const [bare] = await Promise.all([unpacked(t, here), maintain(repositoryIn(here))]);
    assert.deepEqual((await readdir(bare)).toSorted(), ['HEAD', 'objects', 'packed-refs', 'refs']);
    const client = await gitClient();
    const cloned = await client.run(['clone', '-q', bare, 'copy']);
    assert.equal(cloned.code, 0, cloned.stderr);
    const { stdout } = await client.run(['rev-parse', 'HEAD', 'v1'], { at: 'copy' });
    const head = await headOf(here);
    assert.deepEqual(stdout.trim().split('\n'), [head, head]);
    assert.equal((await client.run(['fsck', '--full'], { at: 'copy' })).code, 0);
  }
});

test('the repository of a wiki has a snapshot once it has a page', async (t) => {
  const here = await filledWorld();
  const { as, project } = here;
  const missing = await as('admin').get(`/projects/${project.id}/snapshot`, { wiki: true });
  assert.deepEqual([missing.status, missing.body.message], [404, '404 Wiki Not Found']);
  await as('developer').post(`/projects/${project.id}/wikis`, { title: 'Rows', content: 'Row 7' });
  const bare = await unpacked(t, here, '?wiki=true');
  const client = await gitClient();
  assert.equal((await client.run(['clone', '-q', bare, 'copy'])).code, 0);
  assert.match((await client.run(['show', 'HEAD:Rows.md'], { at: 'copy' })).stdout, /Row 7/);
});

test('only administrators copy whole repositories', async () => {
  const { as, project } = await filledWorld();
  for (const persona of ['anonymous', 'outsider', 'owner'] as const) {
    const refused = await as(persona).get(`/projects/${project.id}/snapshot`);
    assert.deepEqual([refused.status, refused.body.message], [401, '401 Unauthorized']);
  }
});
