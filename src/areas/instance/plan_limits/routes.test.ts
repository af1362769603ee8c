import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf, onMain } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

const url = '/application/plan_limits';
const plan_name = 'default';

test('administrators see and set limits, which hold at once', async () => {
  const { as, project } = await world({});
  const usual = (await as('admin').get(url)).body;
  assert.deepEqual(
    [usual.project_hooks, usual.group_hooks, usual.project_feature_flags, usual.storage_size_limit],
    [100, 50, 200, 0],
  );
  const changed = await as('admin').put(url, { plan_name, project_hooks: 1, project_feature_flags: 1, dotenv_size: 7 });
  assert.deepEqual(changed.body, { ...usual, project_hooks: 1, project_feature_flags: 1, dotenv_size: 7 });
  assert.deepEqual((await as('admin').get(url, { plan_name })).body, changed.body);
  const same = await as('admin').put(url, { plan_name });
  assert.deepEqual([same.status, same.body], [200, changed.body]);
  const hook = { url: 'https://hooks.example' };
  await sent(as('maintainer').post(`/projects/${project.id}/hooks`, hook));
  const second = await as('maintainer').post(`/projects/${project.id}/hooks`, hook);
  assert.deepEqual(second.body.message, { base: ['Maximum number of project hooks (1) exceeded'] });
  const flags = `/projects/${project.id}/feature_flags`;
  await sent(as('developer').post(flags, { name: 'one' }));
  assert.equal((await as('developer').post(flags, { name: 'two' })).status, 400);
  await sent(as('admin').put(url, { plan_name, project_hooks: 0 }));
  await sent(as('maintainer').post(`/projects/${project.id}/hooks`, hook));
});

test('a namespace whose repositories are larger than the limit takes no more commits', async () => {
  const here = await filledWorld({});
  const { as, project, db } = here;
  await sent(as('admin').put(url, { plan_name, storage_size_limit: 1 }));
  const size = { project_id: project.id, commit_count: 1, size_bytes: 1024 * 1024 + 1 };
  await db
    .insertInto('repository_sizes')
    .values(size)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ size_bytes: size.size_bytes }))
    .execute();
  const before = await headOf(here);
  const write = () => as('maintainer').post(fileUrl(project, 'more.txt'), { ...onMain, content: 'x' });
  const refused = await write();
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, 'The repositories of the namespace hold more than the limit of 1 MiB.'],
  );
  assert.equal(await headOf(here), before);
  await sent(as('admin').put(url, { plan_name, storage_size_limit: 2 }));
  assert.equal((await write()).status, 201);
});

test('other plans, negative values and other callers are refused', async () => {
  const { as } = await world({});
  const refusals: [object, unknown][] = [
    [{ plan_name: 'gold', project_hooks: 1 }, 'plan_name does not have a valid value'],
    [{ project_hooks: 1 }, 'plan_name is missing'],
    [{ plan_name, project_hooks: -1 }, { project_hooks: ['must be greater than or equal to 0'] }],
  ];
  for (const [given, message] of refusals) {
    const refused = await as('admin').put(url, { ...given });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.equal((await as('owner').get(url)).status, 403);
  assert.equal((await as('anonymous').get(url)).status, 401);
});
