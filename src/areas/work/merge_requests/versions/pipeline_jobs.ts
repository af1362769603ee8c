/** Pipelines that start by themselves for merge requests (docs/reference/pipelines.md#merge-requests). */
import { Type } from 'typebox';
import { callerInJob } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { Id, optional } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { startForMergeRequest } from '../../../ci/running/index.ts';
import { settingsOf } from '../../../instance/application_settings/index.ts';
import { mergeFacts } from '../branch_queries.ts';
import { builtOf, runningProject } from './pipeline_actions.ts';

/** Enqueued with a new merge request, and with each further version. */
export const startMergeRequestPipeline = job('start_merge_request_pipeline', {
  input: {
    merge_request_id: Id,
    user_id: Id,
    sha: Type.String(),
    /** The options of the push, encrypted, in Base64. */
    options: optional(Type.String()),
  },
  retries: 3,
  run: async ({ input: { merge_request_id, user_id, sha, options }, log: _log, signal: _signal, ...services }) => {
    const { db } = services;
    const [facts] = await mergeFacts(db, [merge_request_id]);
    // Another version has its own pipeline.
    if (facts?.state !== 'opened' || facts.version?.head_commit_sha !== sha) return;
    const caller = await callerInJob(services, user_id);
    const project = caller && (await runningProject(db, caller, facts));
    const built = project && (await builtOf(services, caller, facts));
    const requested_as = `merge request ${facts.id} ${sha}`;
    if (built) await startForMergeRequest(services, { project, caller }, built, { requested_as, options });
  },
});

/**
 * Enqueues the start of a pipeline, where pushes make any.
 * @param tx the transaction that adds the version
 */
export async function enqueuePipeline(
  tx: Database,
  version: { merge_request_id: number; user_id: number; sha: string; options?: string },
): Promise<void> {
  if ((await settingsOf(tx)).pipelines_for_pushes) await startMergeRequestPipeline.enqueue(tx, version);
}
