/** Projects with a configuration of pipelines. */
import { processAgain, startForPush } from '../../src/areas/ci/running/index.ts';
import { performQueued } from './jobs.ts';
import type { WorldOptions } from './populate.ts';
import { filledWorld } from './repository.ts';
import { sent } from './sent.ts';

/** Jobs of each kind, in three stages. */
export const configuration = `
stages: [build, test, deploy]
build: {stage: build, script: make, tags: [linux]}
lint: {stage: build, script: make lint, allow_failure: true}
test: {stage: test, script: make test}
review: {stage: deploy, script: make review, when: manual}
ship: {stage: deploy, script: make ship, needs: [build], resource_group: production}
later: {stage: deploy, script: make later, needs: [], when: delayed, start_in: 1 hour}
`;

/**
 * A world whose project has a configuration on its default branch.
 * @param options as for `world`
 */
export async function built(text = configuration, options?: WorldOptions) {
  const here = await filledWorld(options);
  const { as, project, services } = here;
  const finishJobs = () => performQueued(services, [startForPush, processAgain]);
  const at = `/projects/${project.id}`;
  const commit = (content: string, message = 'Build', branch = 'main') =>
    sent(
      as('owner').post(`${at}/repository/commits`, {
        ...{ branch, start_branch: branch === 'main' ? undefined : 'main', commit_message: message },
        actions: [{ action: branch === 'main' ? 'create' : 'update', file_path: `.gitlab-ci.yml`, content }],
      }),
    );
  const jobsOf = async (id: number) => {
    const body = await sent(as('developer').get(`${at}/pipelines/${id}/jobs?per_page=100`));
    return Object.fromEntries((body as { name: string; status: string; id: number }[]).map((job) => [job.name, job]));
  };
  const statesOf = async (id: number) =>
    Object.fromEntries(Object.entries(await jobsOf(id)).map(([name, { status }]) => [name, status]));
  const { id: sha } = await commit(text);
  return { ...here, at, sha, commit, jobsOf, statesOf, finishJobs };
}
