/** Merge requests: showing, creating, updating and deleting one. */
import { Type } from 'typebox';
import { codeWriter, mergeRequestEditor, mergeRequestRole, mergeRequestVisible } from '../../../access/index.ts';
import { checkUnmodified, del, deleteFound, get, nothing, one, post, put } from '../../../http/index.ts';
import { refusingDuplicates } from './branch_pair_actions.ts';
import { createMergeRequest } from './creation_actions.ts';
import { presentWithStatus } from './merging/status_present.ts';
import { changesFrom, editInput, editRules, newMergeRequestFrom, newMergeRequestInput } from './parameters.ts';
import { MergeRequest, presentSingleMergeRequest } from './present.ts';
import { disabledText, duplicateText, noForkText, sameBranchText } from './rules.ts';
import { targetFor } from './target_queries.ts';
import { updateMergeRequest } from './update_actions.ts';
import { removeMergeRequestRefs } from './versions/ref_jobs.ts';

const path = '/projects/:id/merge_requests';

export const mergeRequestRoutes = [
  get(`${path}/:merge_request_iid`, {
    operation: 'getMergeRequest',
    summary: 'Get a merge request',
    access: mergeRequestVisible,
    input: {
      render_html: Type.Boolean({
        default: false,
        description: 'Whether to add the title and the description as HTML',
      }),
      include_diverged_commits_count: Type.Boolean({
        default: false,
        description: 'Whether to add `diverged_commits_count`',
      }),
      include_rebase_in_progress: Type.Boolean({ default: false, description: 'Whether to add `rebase_in_progress`' }),
    },
    returns: one(MergeRequest),
    handle: ({ db, storages, url, caller, project, merge_request, input }) =>
      presentWithStatus({ db, storages, url }, caller, project, merge_request.id, input),
  }),
  post(path, {
    operation: 'createMergeRequest',
    summary: 'Create a merge request',
    description:
      'The project in the path has the source branch. At most 200 assignees and 200 reviewers. Quick actions in the description are executed.',
    access: codeWriter,
    input: newMergeRequestInput,
    returns: one(MergeRequest),
    refusals: {
      400: '<parameter>: <reason>',
      404: ['404 Project Not Found', '404 Milestone Not Found'],
      409: [duplicateText('<iid>'), sameBranchText],
      422: [noForkText, disabledText],
    },
    handle: async ({ db, storages, url, caller, project: source, plan, input }) => {
      const project = await targetFor(db, caller, source, input.target_project_id);
      const wanted = await newMergeRequestFrom({ db, plan, project }, input);
      const between = {
        source,
        source_branch: input.source_branch,
        target: project,
        target_branch: input.target_branch,
      };
      const { id } = await createMergeRequest({ db, storages }, { caller, plan, storages, url }, between, wanted);
      return presentSingleMergeRequest({ db, url }, caller, project, id);
    },
  }),
  put(`${path}/:merge_request_iid`, {
    operation: 'updateMergeRequest',
    summary: 'Update a merge request',
    access: mergeRequestEditor,
    input: editInput,
    rules: editRules,
    returns: one(MergeRequest),
    refusals: {
      400: '<parameter>: <reason>',
      404: '404 Milestone Not Found',
      409: [duplicateText('<iid>'), sameBranchText],
    },
    handle: async ({ db, storages, url, caller, project, merge_request, plan, input }) => {
      const changes = await changesFrom({ db, plan, project }, merge_request, input);
      const acting = { caller, plan, storages, url };
      const pair = { ...merge_request, target_branch: input.target_branch ?? merge_request.target_branch };
      await refusingDuplicates(db, pair, (tx) => updateMergeRequest(tx, acting, project, merge_request, changes));
      return presentSingleMergeRequest({ db, url }, caller, project, merge_request.id);
    },
  }),
  del(`${path}/:merge_request_iid`, {
    operation: 'deleteMergeRequest',
    summary: 'Delete a merge request',
    access: mergeRequestRole('owner'),
    conditional: true,
    returns: nothing,
    handle: async ({ db, project, merge_request, unmodified_since }) => {
      checkUnmodified(merge_request.updated_at, unmodified_since);
      await db.transaction().execute(async (tx) => {
        await deleteFound(tx, 'merge_requests', merge_request.id);
        await removeMergeRequestRefs.enqueue(tx, { project_id: project.id, merge_request_iid: merge_request.iid });
      });
    },
  }),
];
