import assert from 'node:assert/strict';
import { test } from 'node:test';
import { download, exported, recordsIn, worldWithoutExports } from '../../../../test/support/relation_exports.ts';
import { addReadme } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';

test('pipelines are exported with their numbers, and tag pipelines as such', async () => {
  const here = await worldWithoutExports();
  await addReadme(here);
  const { as, project } = here;
  const at = `/projects/${project.id}`;
  const sha = (await sent(as('owner').post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' }))).commit.id;
  const report = async (ref: string, state: string) =>
    (await sent(as('developer').post(`${at}/statuses/${sha}`, { state, ref, name: `of ${ref}` }))).pipeline_id;
  const first = await report('main', 'failed');
  await report('v1', 'success');
  assert.equal((await as('owner').delete(`${at}/pipelines/${first}`)).status, 204);
  await report('main', 'running');
  await exported(here, 'owner', at);
  const records = await recordsIn(await download(here, 'owner', at, { relation: 'ci_pipelines' }));
  const shown = (await as('owner').get(`${at}/pipelines`, { sort: 'asc' })).body;
  const inOrder = (rows: { iid: number; ref: string; status: string }[]) =>
    rows.map(({ iid, ref, status }) => `${iid} ${ref} ${status}`).sort();
  assert.deepEqual(inOrder(records), inOrder(shown));
  assert.deepEqual(inOrder(records), ['2 v1 success', '3 main running']);
  assert.deepEqual(records.map(({ ref, tag }: { ref: string; tag: boolean }) => [ref, tag]).sort(), [
    ['main', false],
    ['v1', true],
  ]);
});
