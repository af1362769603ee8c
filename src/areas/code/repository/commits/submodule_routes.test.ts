import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filledWorld, headOf, repositoryIn } from '../../../../../test/support/repository.ts';
import { addSubmodule, firstOfSubmodule } from '../../../../../test/support/submodule.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { git } from '../../../../git/index.ts';

const [first, second] = [firstOfSubmodule, '2'.repeat(40)];

/** A project whose branch has a submodule in a folder. */
async function withSubmodule(): Promise<World & { url: string }> {
  const here = await filledWorld();
  await addSubmodule(here);
  return { ...here, url: `/projects/${here.project.id}/repository/submodules/libs%2Fpress` };
}

const entryOf = async (here: World) =>
  (await git(repositoryIn(here), 'ls-tree', [], ['main', 'libs/press'])).toString().trim();

test('a submodule is updated to another commit', async () => {
  const here = await withSubmodule();
  const { as, project, url } = here;
  const changed = await as('maintainer').put(url, { branch: 'main', commit_sha: second.toUpperCase() });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal(changed.body.title, `Update submodule libs/press with oid ${second}`);
  assert.equal(await entryOf(here), `160000 commit ${second}\tlibs/press`);
  const events = await as('developer').get(`/projects/${project.id}/events`, { action: 'pushed' });
  assert.equal(events.body[0].push_data.commit_to, changed.body.id);
  const again = await as('maintainer').put(url, { branch: 'main', commit_sha: second });
  assert.deepEqual([again.status, again.body.message], [400, `The submodule libs/press is already at ${second}`]);
  const own = await as('maintainer').put(url, { branch: 'main', commit_sha: first, commit_message: 'Go back' });
  assert.equal(own.body.title, 'Go back');
});

test('a path that is no submodule, an invalid commit and a missing right are refused, and nothing changes', async () => {
  const here = await withSubmodule();
  const { as, project, url } = here;
  const before = await headOf(here);
  const file = `/projects/${project.id}/repository/submodules`;
  for (const path of ['README.md', 'libs', 'nothing'])
    assert.deepEqual(
      (await as('maintainer').put(`${file}/${path}`, { branch: 'main', commit_sha: second })).body.message,
      'Invalid submodule path',
    );
  const short = await as('maintainer').put(url, { branch: 'main', commit_sha: second.slice(1) });
  assert.deepEqual([short.status, short.body.message], [400, 'commit_sha is invalid']);
  assert.equal((await as('reporter').put(url, { branch: 'main', commit_sha: second })).status, 403);
  await as('maintainer').delete(`/projects/${project.id}/protected_branches/main`);
  const rule = { name: 'main', push_access_level: 40 };
  await as('maintainer').post(`/projects/${project.id}/protected_branches`, rule);
  const closed = await as('developer').put(url, { branch: 'main', commit_sha: second });
  assert.deepEqual(
    [closed.status, closed.body.message],
    [403, '403 Forbidden - You are not allowed to push into this branch'],
  );
  assert.equal(await headOf(here), before);
  const empty = await world();
  const none = `/projects/${empty.project.id}/repository/submodules/libs`;
  const refused = await empty.as('developer').put(none, { branch: 'main', commit_sha: second });
  assert.deepEqual([refused.status, refused.body.message], [400, 'The repository is empty']);
});
