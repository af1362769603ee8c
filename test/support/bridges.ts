/** Projects whose pipelines start others. */
import { randomUUID } from 'node:crypto';
import { cancelChild, followPipelines, startBridge } from '../../src/areas/ci/bridges/index.ts';
import { processAgain } from '../../src/areas/ci/running/index.ts';
import { performQueued } from './jobs.ts';
import { built } from './pipelines.ts';
import type { WorldOptions } from './populate.ts';
import { sent } from './sent.ts';

interface Shown {
  id: number;
  name: string;
  status: string;
  failure_reason?: string;
  downstream_pipeline: { id: number; project_id: number; ref: string; status: string; source: string } | null;
}

/**
 * A world whose project has bridges on its default branch.
 * @param text the configuration
 * @param files further files of the project
 */
export async function bridged(text: string, files: Readonly<Record<string, string>> = {}, options?: WorldOptions) {
  const here = await built(text, options);
  const { as, at, services } = here;
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  if (actions.length > 0)
    await sent(as('owner').post(`${at}/repository/commits`, { branch: 'main', commit_message: 'Add files', actions }));
  const work = () => performQueued(services, [startBridge, followPipelines, cancelChild, processAgain]);
  const bridgesOf = async (id: number, query = ''): Promise<Record<string, Shown>> => {
    const body = await sent(as('developer').get(`${at}/pipelines/${id}/bridges${query}`));
    return Object.fromEntries((body as Shown[]).map((bridge) => [bridge.name, bridge]));
  };
  /** Starts a pipeline and all that it starts. @returns its id */
  const start = async (more: object = {}): Promise<number> => {
    const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main', ...more }));
    await work();
    return id;
  };
  const statusOf = async (id: number, place = at): Promise<string> =>
    (await sent(as('owner').get(`${place}/pipelines/${id}`))).status;
  /** The variables that a pipeline was given. */
  const given = async (id: number, place = at): Promise<Record<string, string>> => {
    const body = await sent(as('owner').get(`${place}/pipelines/${id}/variables`));
    return Object.fromEntries((body as { key: string; value: string }[]).map(({ key, value }) => [key, value]));
  };
  return { ...here, work, bridgesOf, start, statusOf, given };
}

type Bridged = Awaited<ReturnType<typeof bridged>>;

/**
 * Another project of the owner with a configuration on its default branch.
 * @param isShared whether it is in the group, whose members have their roles there, too
 */
export async function otherProject({ as, group }: Pick<Bridged, 'as' | 'group'>, text: string, isShared = true) {
  const path = `other-${randomUUID()}`;
  const project = await sent(
    as('owner').post('/projects', { name: path, path, ...(isShared && { namespace_id: group.id }) }),
  );
  const at = `/projects/${project.id}`;
  await sent(
    as('owner').post(`${at}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'Build' },
      actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: text }],
    }),
  );
  return { ...(project as { id: number; path_with_namespace: string }), at };
}
