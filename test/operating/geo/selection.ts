/** A secondary that is limited to namespaces has what is in them, and nothing else. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Sites } from '../../support/two_sites.ts';
import { commit, isCopied, isRemoved, makeProject, replicaOf, type SharedProject } from './repositories.ts';

/** @param project outside of the namespaces that are chosen */
export async function selection(t: TestContext, sites: Sites, project: SharedProject): Promise<void> {
  const { primary, node } = sites;
  const group = async (name: string): Promise<number> => {
    const { status, body } = await primary.server.root.post('/groups', { name, path: name });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
  };
  const [valley, hill] = [await group('valley'), await group('hill')];
  const near = await makeProject(primary, { name: 'Near', namespace_id: valley });
  const far = await makeProject(primary, { name: 'Far', namespace_id: hill });
  await Promise.all([near, far].map((id) => isCopied(sites, id)));
  const choose = async (ids: number[] | undefined) => {
    const chosen = ids
      ? { selective_sync_type: 'namespaces', selective_sync_namespace_ids: ids }
      : { selective_sync_type: null };
    assert.equal((await primary.server.root.put(`/geo_nodes/${node}`, chosen)).status, 200);
  };

  await t.test('what is not chosen is removed, and is not copied', async () => {
    await choose([valley]);
    await Promise.all([far, project.id].map((id) => isRemoved(sites, id)));
    const later = await makeProject(primary, { name: 'Later', namespace_id: hill });
    await commit(primary, far, 'pears');
    await commit(primary, near, 'pears');
    await isCopied(sites, near);
    await Promise.all([far, later].map((id) => isRemoved(sites, id)));
  });

  await t.test('what is chosen later comes', async () => {
    await choose([valley, hill]);
    await isCopied(sites, far);
    assert.equal(await replicaOf(sites, project.id), undefined);
    await choose(undefined);
    await isCopied(sites, project.id);
  });
}
