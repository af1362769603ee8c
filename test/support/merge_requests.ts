/** Merge requests for tests that need some. */
import assert from 'node:assert/strict';
import { copyFork } from '../../src/areas/spaces/projects/index.ts';
import {
  concludeMerges,
  followMergeRequests,
  prepareMergeRequest,
  readClosedIssues,
} from '../../src/areas/work/merge_requests/index.ts';
import { performQueued } from './jobs.ts';
import { fileUrl, filledWorld, onMain } from './repository.ts';
import type { Persona, World, WorldOptions } from './world.ts';

/** A world whose project has the branches `main` and `topic`, which is a commit ahead. */
export async function worldWithTopic(options?: WorldOptions): Promise<World> {
  const here = await filledWorld(options);
  await addBranch(here, 'topic');
  return here;
}

/**
 * Adds a branch with a commit of its own to a project.
 * @param project that of the world by default
 */
export async function addBranch(
  here: World,
  branch: string,
  project: { id: number } = here.project,
  by: Persona = 'maintainer',
) {
  const change = { ...onMain, start_branch: 'main', branch, content: `${branch}\n` };
  const added = await here.as(by).post(fileUrl(project, `${branch}.txt`), change);
  assert.equal(added.status, 201, JSON.stringify(added.body));
}

/**
 * Adds a merge request of `topic` into `main` over the API.
 * @param parameters of the call
 * @param by who adds it
 */
export async function addMergeRequest(
  { as, project }: World,
  parameters: Record<string, unknown> = {},
  by: Persona = 'developer',
) {
  const usual = { title: 'Sow the beans', source_branch: 'topic', target_branch: 'main' };
  const answer = await as(by).post(`/projects/${project.id}/merge_requests`, { ...usual, ...parameters });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/** A fork of a project of the world by a persona, with its repository. */
export async function addFork(
  here: World,
  by: Persona,
  project: { id: number } = here.project,
  parameters = {},
): Promise<{ id: number }> {
  const forked = await here.as(by).post(`/projects/${project.id}/fork`, parameters);
  assert.equal(forked.status, 201, JSON.stringify(forked.body));
  await performQueued(here.services, [copyFork]);
  return forked.body;
}

/** Does what follows a push, a new merge request and a merge. */
export const settleMergeRequests = ({ services }: World) =>
  performQueued(services, [followMergeRequests, prepareMergeRequest, readClosedIssues, concludeMerges]);
