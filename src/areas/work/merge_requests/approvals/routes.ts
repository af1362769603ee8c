/** Approvals of merge requests (docs/reference/approvals.md). */
import { Type } from 'typebox';
import {
  mayUpdateMergeRequest,
  mergeRequestReader,
  mergeRequestVisible,
  tooManyAttemptsText,
  userByPassword,
} from '../../../../access/index.ts';
import { repeated } from '../../../../db/index.ts';
import {
  accepted,
  allOptional,
  type Caller,
  type Conditions,
  get,
  one,
  post,
  put,
  type Services,
  unauthorized,
} from '../../../../http/index.ts';
import { shaText } from '../rules.ts';
import { approveMergeRequest, resetApprovals, unapproveMergeRequest } from './actions.ts';
import { ApprovalStateForm, Approvals, presentApprovalState, presentApprovals } from './present.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';
const refused = '401 Unauthorized';

/** @throws ApiError 401 for a wrong password, 429 after too many attempts */
async function isPassword(
  services: Services & Pick<Conditions, 'sent_from'>,
  caller: Caller,
  password: string | undefined,
): Promise<boolean> {
  if (password === undefined) return false;
  const address = services.sent_from.address ?? '';
  return (await userByPassword(services, { login: caller.username, password, address })).id === caller.id;
}

export const approvalRoutes = [
  get(`${path}/approvals`, {
    operation: 'getMergeRequestApprovals',
    summary: 'Show the approvals of a merge request',
    access: mergeRequestVisible,
    returns: one(Approvals),
    handle: ({ caller, project, merge_request, ...services }) =>
      presentApprovals(services, caller, project, merge_request.id),
  }),
  get(`${path}/approval_state`, {
    operation: 'getMergeRequestApprovalState',
    summary: 'Show the approval state of a merge request',
    access: mergeRequestVisible,
    plan: 'premium',
    returns: one(ApprovalStateForm),
    handle: ({ caller, merge_request, ...services }) => presentApprovalState(services, caller, merge_request.id),
  }),
  post(`${path}/approve`, {
    operation: 'approveMergeRequest',
    summary: 'Approve a merge request',
    access: mergeRequestReader,
    input: allOptional({
      sha: Type.String({ description: 'Approves only if the last version has this head' }),
      approval_password: Type.String({ description: "The caller's password, for projects that ask for it" }),
    }),
    returns: one(Approvals),
    refusals: { 401: refused, 409: shaText('<sha>'), 429: tooManyAttemptsText },
    handle: async ({ caller, project, merge_request: { id }, input, ...services }) => {
      const has_password = await isPassword(services, caller, input.approval_password);
      const approving = {
        project,
        caller,
        merge_request_id: id,
        storages: services.storages,
        sha: input.sha,
        has_password,
      };
      await repeated(services.db, (tx) => approveMergeRequest(tx, approving));
      return presentApprovals(services, caller, project, id);
    },
  }),
  post(`${path}/unapprove`, {
    operation: 'unapproveMergeRequest',
    summary: "Remove the caller's approval of a merge request",
    access: mergeRequestReader,
    returns: one(Approvals),
    refusals: { 404: '404 Not Found' },
    handle: async ({ caller, project, merge_request: { id }, ...services }) => {
      const approving = { project, caller, merge_request_id: id, storages: services.storages };
      await repeated(services.db, (tx) => unapproveMergeRequest(tx, approving));
      return presentApprovals(services, caller, project, id);
    },
  }),
  put(`${path}/reset_approvals`, {
    operation: 'resetMergeRequestApprovals',
    summary: 'Remove all approvals of a merge request',
    description: 'Only bot users of projects and groups may, with their access tokens.',
    access: mergeRequestReader,
    returns: accepted,
    refusals: { 401: refused },
    handle: async ({ db, caller, project, merge_request: { id, is_own } }) => {
      const isBot = caller.token.kind === 'project' || caller.token.kind === 'group';
      if (!isBot || !mayUpdateMergeRequest({ access_level: project.access_level, is_own })) throw unauthorized();
      await repeated(db, (tx) => resetApprovals(tx, id, caller.id));
    },
  }),
];
