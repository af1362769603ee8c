/** Pipelines for merge requests (docs/reference/pipelines.md#merge-requests). Who knows merge requests says what they are about. */
import type { Project } from '../../../access/index.ts';
import { mergeRequestRef, readCommit, repositoryOf } from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { rightsBetween } from '../configuration/variable_queries.ts';
import { isSkipped, optionsIn } from './push_jobs.ts';
import { cancelRedundant } from './redundant_actions.ts';
import { type Planned, planPipeline, refusePlan, storePlanned } from './start_actions.ts';
import { storePipeline } from './store_actions.ts';

/** A merge request, as far as its pipelines know it. */
export interface BuiltMergeRequest {
  id: number;
  iid: number;
  source_branch: string;
  target_branch: string;
  /** Whether both branches are in the project whose pipeline it is. */
  is_within: boolean;
  head: string;
  /** Where its commits begin; null without common history. */
  base: string | null;
  predefined: Readonly<Record<string, string>>;
}

interface Granted {
  project: Project;
  caller: Caller;
}

async function plan(services: Services, granted: Granted, built: BuiltMergeRequest, requested_as?: string) {
  const { project, caller } = granted;
  const { id, iid, source_branch, head, base, predefined } = built;
  return planPipeline(services, granted, {
    ...{ source: 'merge_request_event', ref: mergeRequestRef(iid, 'head'), sha: head, variables: [], predefined },
    about: { id, source_branch, base, rights: await rightsBetween(services.db, project, caller, built) },
    ...(requested_as === undefined ? {} : { requested_as }),
  });
}

const cancelOlder = ({ db }: Pick<Services, 'db'>, { project }: Granted, { iid, head }: BuiltMergeRequest) =>
  cancelRedundant(db, { project_id: project.id, ref: mergeRequestRef(iid, 'head'), head });

/**
 * Starts the pipeline for the head of a merge request that is new or was pushed to, if the configuration has jobs for it.
 * @param asked.requested_as what it is made for, so that it is made once
 * @param asked.options those of the push, encrypted, in Base64
 */
export async function startForMergeRequest(
  services: Services,
  granted: Granted,
  built: BuiltMergeRequest,
  { requested_as, options }: { requested_as: string; options: string | undefined },
): Promise<void> {
  const planned: Planned = await plan(services, granted, built, requested_as);
  const { message } = await readCommit(repositoryOf(services, granted.project), built.head);
  const id = await storePlanned(services, planned, {
    isSkipped: isSkipped(message) || optionsIn(services.secrets, options).skips,
  });
  if (id !== undefined) await cancelOlder(services, granted, built);
}

/**
 * Makes the pipeline of a merge request that somebody asks for.
 * @returns its id
 * @throws ApiError 400, TooMuchWaiting
 */
export async function createForMergeRequest(
  services: Services,
  granted: Granted,
  built: BuiltMergeRequest,
): Promise<number> {
  const { made, content } = refusePlan(await plan(services, granted, built));
  const id = (await storePipeline(services, made, content))!;
  await cancelOlder(services, granted, built);
  return id;
}
