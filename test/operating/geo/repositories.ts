/** Repositories of two sites, as they are on their disks and in the rows about them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { allRefs, diskPath, fsck } from '../../../src/git/index.ts';
import { eventually, type Site, type Sites } from '../../support/two_sites.ts';

/** The project that several steps use, as the API shows it. */
export interface SharedProject {
  id: number;
  path_with_namespace: string;
}

export const repositoryOf = (site: Site, id: number) => ({
  path: path.join(site.environment.COPPICE_DATA, 'repositories', `${diskPath(id)}.git`),
});

export const refsOf = async (site: Site, id: number): Promise<string> =>
  JSON.stringify([...(await allRefs(repositoryOf(site, id)))].sort());

/** What the secondary says about the copy of a project's repository; undefined when it has none. */
export async function replicaOf({ secondary }: Sites, id: number) {
  const [replica] = await secondary.ask<{ state: string; last_sync_failure: string | null }>(
    `select state, last_sync_failure from geo_replicas where replicable = 'project_repositories' and record = '${id}'`,
  );
  return replica;
}

export const isCopied = (sites: Sites, id: number): Promise<boolean> =>
  eventually('the copy', async () => {
    const isSynced = (await replicaOf(sites, id))?.state === 'synced';
    return isSynced && (await refsOf(sites.primary, id)) === (await refsOf(sites.secondary, id));
  });

export const isRemoved = (sites: Sites, id: number): Promise<boolean> =>
  eventually('the end of the copy', async () => {
    const isOnDisk = existsSync(repositoryOf(sites.secondary, id).path);
    return !isOnDisk && (await replicaOf(sites, id)) === undefined;
  });

/** Whether git finds nothing wrong with any object. */
export const isWhole = async (site: Site, id: number): Promise<boolean> =>
  (await fsck(repositoryOf(site, id)).catch(() => undefined))?.length === 0;

export async function makeProject({ server }: Site, more: Record<string, unknown>): Promise<number> {
  const { status, body } = await server.root.post('/projects', { initialize_with_readme: true, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

export async function commit({ server }: Site, id: number, file: string): Promise<void> {
  const change = { branch: 'main', commit_message: 'Add a file', content: file };
  const { status, body } = await server.root.post(`/projects/${id}/repository/files/${file}`, change);
  assert.equal(status, 201, JSON.stringify(body));
}
