/** Merge requests: showing and deleting one. */
import { mergeRequestRole, mergeRequestVisible } from '../../../access/index.ts';
import { checkUnmodified, del, deleteFound, get, nothing, one } from '../../../http/index.ts';
import { MergeRequest, presentSingleMergeRequest } from './present.ts';

const path = '/projects/:id/merge_requests';

export const mergeRequestRoutes = [
  get(`${path}/:merge_request_iid`, {
    operation: 'getMergeRequest',
    summary: 'Get a merge request',
    access: mergeRequestVisible,
    returns: one(MergeRequest),
    handle: ({ db, url, caller, project, merge_request }) =>
      presentSingleMergeRequest({ db, url }, caller, project, merge_request.id),
  }),
  del(`${path}/:merge_request_iid`, {
    operation: 'deleteMergeRequest',
    summary: 'Delete a merge request',
    access: mergeRequestRole('owner'),
    conditional: true,
    returns: nothing,
    handle: async ({ db, merge_request, unmodified_since }) => {
      checkUnmodified(merge_request.updated_at, unmodified_since);
      await deleteFound(db, 'merge_requests', merge_request.id);
    },
  }),
];
