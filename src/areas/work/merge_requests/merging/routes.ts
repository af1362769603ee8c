/** Merging merge requests, now or as soon as their commit statuses have succeeded (docs/reference/merge_requests.md#merging). */
import { Type } from 'typebox';
import { mergeRequestReader } from '../../../../access/index.ts';
import {
  allOptional,
  badRequest,
  get,
  leftOutIfBlank,
  one,
  post,
  put,
  resource,
  unauthorized,
  withStatus,
} from '../../../../http/index.ts';
import { factsOf } from '../branch_queries.ts';
import { MergeRequest } from '../present.ts';
import { cannotMergeText, noAutoMergeText, notMergeableText, shaText } from '../rules.ts';
import { mayMerge, mergeMergeRequest } from './actions.ts';
import { cancelAutoMerge } from './auto_merge_actions.ts';
import { rebaseMergeRequest, rebaseTexts } from './rebase_actions.ts';
import { refreshMergeRef } from './ref_actions.ts';
import { presentWithStatus } from './status_present.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';
const Success = resource('Success', { status: Type.Enum(['success']) });
const MergeRef = resource('MergeRef', { commit_id: Type.String() });
const RebaseInProgress = resource('RebaseInProgress', { rebase_in_progress: Type.Boolean() });

export const mergeRequestMergeRoutes = [
  put(`${path}/merge`, {
    operation: 'mergeMergeRequest',
    summary: 'Merge a merge request',
    access: mergeRequestReader,
    input: allOptional({
      merge_commit_message: leftOutIfBlank(
        Type.String({ description: 'By default what the template of the project says' }),
      ),
      squash_commit_message: leftOutIfBlank(
        Type.String({ description: 'By default what the template of the project says' }),
      ),
      squash: Type.Boolean({ description: 'Whether the commits become one, unless the project decides' }),
      should_remove_source_branch: Type.Boolean(),
      sha: Type.String({ description: 'Merges only if the source branch is there' }),
      auto_merge: Type.Boolean({
        description: 'Whether to merge when the commit statuses have succeeded, if they are still to come',
      }),
      merge_when_pipeline_succeeds: Type.Boolean({ deprecated: true, description: 'Deprecated: use `auto_merge`' }),
      skip_merge_train: Type.Boolean({ description: 'Has no effect: there are no merge trains' }),
    }),
    returns: one(MergeRequest),
    refusals: {
      400: 'Could not update <ref>. Please refresh and try again.',
      401: '401 Unauthorized',
      405: '405 Method Not Allowed',
      409: shaText('<sha>'),
      422: cannotMergeText,
    },
    handle: async ({ project, caller, merge_request, input, ...services }) => {
      const { auto_merge, merge_when_pipeline_succeeds, skip_merge_train: _, ...wishes } = input;
      const waits = auto_merge ?? merge_when_pipeline_succeeds ?? false;
      await mergeMergeRequest(services, {
        project,
        caller,
        merge_request_id: merge_request.id,
        wishes,
        auto_merge: waits,
      });
      return presentWithStatus(services, caller, project, merge_request.id);
    },
  }),
  post(`${path}/cancel_merge_when_pipeline_succeeds`, {
    operation: 'cancelAutoMerge',
    summary: 'Cancel auto-merge',
    access: mergeRequestReader,
    returns: withStatus(201, one(Success)),
    refusals: { 401: '401 Unauthorized', 405: '405 Method Not Allowed', 406: noAutoMergeText },
    handle: async ({ db, project, caller, merge_request }) => {
      const isTheirs = merge_request.author_id === caller.id;
      if (!isTheirs && !(await mayMerge({ db }, project, caller, merge_request.target_branch))) throw unauthorized();
      await cancelAutoMerge(db, merge_request.id, caller.id, 'canceled the automatic merge');
      return { status: 'success' as const };
    },
  }),
  put(`${path}/rebase`, {
    operation: 'rebaseMergeRequest',
    summary: 'Rebase the source branch of a merge request on its target branch',
    description:
      'It runs in the background: `rebase_in_progress` and `merge_error` of the merge request show how it went.',
    access: mergeRequestReader,
    input: { skip_ci: Type.Boolean({ default: false, description: 'Whether the rebased branch starts no jobs' }) },
    returns: withStatus(202, one(RebaseInProgress)),
    refusals: rebaseTexts,
    handle: async ({ caller, merge_request, input: { skip_ci }, ...services }) => {
      const facts = await factsOf(services.db, merge_request.id);
      const { storages } = services;
      await services.db
        .transaction()
        .execute((tx) => rebaseMergeRequest({ db: tx, storages }, caller, { ...facts, skip_ci }));
      return { rebase_in_progress: true };
    },
  }),
  get(`${path}/merge_ref`, {
    operation: 'getMergeRequestMergeRef',
    summary: 'Get the commit that merging would make, which is fetched as `refs/merge-requests/<iid>/merge`',
    access: mergeRequestReader,
    returns: one(MergeRef),
    refusals: { 400: notMergeableText },
    handle: async ({ db, storages, merge_request }) => {
      const commit_id = await refreshMergeRef({ db, storages }, merge_request.id);
      if (commit_id === undefined) throw badRequest(notMergeableText);
      return { commit_id };
    },
  }),
];
