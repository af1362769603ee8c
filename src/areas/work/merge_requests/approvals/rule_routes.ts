/** Approval rules of a project, and of one merge request (docs/reference/approvals.md#rules). */
import { Type } from 'typebox';
import {
  mergeRequestEditor,
  mergeRequestReader,
  mergeRequestsReader,
  type Project,
  projectRole,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  allOptional,
  atLeastOneOf,
  CommaList,
  checked,
  del,
  forbidden,
  found,
  get,
  Id,
  NotBlank,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../../http/index.ts';
import { mapPage, pageOfArray, paginate, paging } from '../../../../lists/index.ts';
import { ListedApprovalRule, presentOwnRules } from './own_rule_present.ts';
import { addApprovalRule, changeApprovalRule, copyApprovalRule, ownedBy, removeApprovalRule } from './rule_actions.ts';
import {
  MergeRequestApprovalRule,
  ProjectApprovalRule,
  presentMergeRequestRule,
  presentProjectRule,
  ruleRows,
} from './rule_present.ts';
import { settingInForce } from './setting_queries.ts';

const plan = 'premium';
const reasons = '<parameter>: <reason>';

const maximumName = 255;
const name = checked(NotBlank(), (text) =>
  [...text].length > maximumName ? [`is too long (maximum is ${maximumName} characters)`] : [],
);
const approvals_required = Type.Integer({ minimum: 0, maximum: 100 });
const named = allOptional({
  user_ids: CommaList(Id),
  usernames: CommaList(Type.String()),
  group_ids: CommaList(Id),
});
const branches = allOptional({
  protected_branch_ids: CommaList(Id),
  applies_to_all_protected_branches: Type.Boolean(),
});
const remove_hidden_groups = optional(
  Type.Boolean({ description: 'Whether groups that are hidden from the caller are removed' }),
);
const changes = {
  name: optional(name),
  approvals_required: optional(approvals_required),
  ...named,
  remove_hidden_groups,
};

const settings = projectRole('maintainer', { permission: 'manage_merge_request_settings' });
const ofProject = '/projects/:id/approval_rules';

const projectRules = [
  get(ofProject, {
    operation: 'listProjectApprovalRules',
    summary: 'List the approval rules of a project',
    access: mergeRequestsReader,
    plan,
    input: paging,
    returns: pageOf(ProjectApprovalRule),
    handle: async ({ caller, project, input, ...services }) => {
      const rows = ruleRows(services.db, caller).where(ownedBy({ project_id: project.id }));
      return mapPage(await paginate(services.db, rows, input), (row) => presentProjectRule(services, row));
    },
  }),
  get(`${ofProject}/:approval_rule_id`, {
    operation: 'getProjectApprovalRule',
    summary: 'Show an approval rule of a project',
    access: mergeRequestsReader,
    plan,
    input: { approval_rule_id: Id },
    returns: one(ProjectApprovalRule),
    handle: async ({ caller, project, input, ...services }) => {
      const rows = ruleRows(services.db, caller).where(ownedBy({ project_id: project.id }));
      const row = await rows.where('approval_rules.id', '=', input.approval_rule_id).executeTakeFirst();
      return presentProjectRule(services, found(undefined, row));
    },
  }),
  post(ofProject, {
    operation: 'createProjectApprovalRule',
    audits: ['approval_rule_created'],
    summary: 'Add an approval rule to a project',
    access: settings,
    plan,
    input: {
      name,
      approvals_required,
      rule_type: Type.Enum(['regular', 'any_approver'], { default: 'regular' }),
      ...named,
      ...branches,
    },
    returns: one(ProjectApprovalRule),
    refusals: { 400: reasons },
    handle: async ({ caller, project, input, ...services }) => {
      const owner = { project_id: project.id };
      const id = await services.db.transaction().execute((tx) => addApprovalRule(tx, owner, caller, input));
      const row = await ruleRows(services.db, caller).where('approval_rules.id', '=', id).executeTakeFirst();
      return presentProjectRule(services, found(undefined, row));
    },
  }),
  put(`${ofProject}/:approval_rule_id`, {
    operation: 'updateProjectApprovalRule',
    summary: 'Update an approval rule of a project',
    access: settings,
    plan,
    input: { approval_rule_id: Id, ...changes, ...branches },
    rules: [atLeastOneOf(...Object.keys({ ...changes, ...branches }))],
    returns: one(ProjectApprovalRule),
    refusals: { 400: reasons },
    handle: async ({ caller, project, input: { approval_rule_id: id, ...given }, ...services }) => {
      await services.db
        .transaction()
        .execute((tx) => changeApprovalRule(tx, { project_id: project.id }, caller, id, given));
      const row = await ruleRows(services.db, caller).where('approval_rules.id', '=', id).executeTakeFirst();
      return presentProjectRule(services, found(undefined, row));
    },
  }),
  del(`${ofProject}/:approval_rule_id`, {
    operation: 'deleteProjectApprovalRule',
    summary: 'Delete an approval rule of a project',
    access: settings,
    plan,
    input: { approval_rule_id: Id },
    returns: nothing,
    handle: ({ db, project, input }) =>
      db.transaction().execute((tx) => removeApprovalRule(tx, { project_id: project.id }, input.approval_rule_id)),
  }),
];

const ofOne = '/projects/:id/merge_requests/:merge_request_iid/approval_rules';

interface Own {
  project: Project;
  merge_request: { id: number; state: string };
}

const ownerOf = ({ project, merge_request }: Own) => ({ project_id: project.id, merge_request_id: merge_request.id });

/** @throws ApiError 403 if the project does not allow rules in merge requests, or if it is merged */
async function refuseOwnRules(db: Database, { project, merge_request: { state } }: Own): Promise<void> {
  const row = await db
    .selectFrom('projects')
    .select(settingInForce('disable_overriding_approvers_per_merge_request').as('isDisabled'))
    .where('id', '=', project.id)
    .executeTakeFirst();
  if (row?.isDisabled || state === 'merged' || state === 'locked') throw forbidden();
}

const mergeRequestRules = [
  get(ofOne, {
    operation: 'listMergeRequestApprovalRules',
    summary: 'List the approval rules that a merge request has of its own, and those of security policies',
    description: 'Rules of policies have no `id`: they change with the file of the policy project.',
    access: mergeRequestReader,
    plan,
    input: paging,
    returns: pageOf(ListedApprovalRule),
    handle: async ({ caller, project, merge_request, input, ...services }) =>
      pageOfArray(await presentOwnRules(services, caller, project.id, merge_request.id), input),
  }),
  get(`${ofOne}/:approval_rule_id`, {
    operation: 'getMergeRequestApprovalRule',
    summary: 'Show an approval rule of a merge request',
    access: mergeRequestReader,
    plan,
    input: { approval_rule_id: Id },
    returns: one(MergeRequestApprovalRule),
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      const rows = ruleRows(services.db, caller).where(ownedBy(ownerOf({ project, merge_request })));
      const row = await rows.where('approval_rules.id', '=', input.approval_rule_id).executeTakeFirst();
      return presentMergeRequestRule(services, found(undefined, row));
    },
  }),
  post(ofOne, {
    operation: 'createMergeRequestApprovalRule',
    summary: 'Add an approval rule to a merge request',
    description: 'The rules of a merge request replace those of its project.',
    access: mergeRequestEditor,
    plan,
    input: {
      name,
      approvals_required,
      approval_project_rule_id: optional(
        Type.Integer({ description: 'A rule of the project whose name, users and groups are copied' }),
      ),
      ...named,
    },
    returns: one(MergeRequestApprovalRule),
    refusals: { 400: reasons },
    handle: async ({ caller, project, merge_request, input, ...services }) => {
      await refuseOwnRules(services.db, { project, merge_request });
      const owner = ownerOf({ project, merge_request });
      const { approval_project_rule_id: source_id, ...given } = input;
      const id = await services.db
        .transaction()
        .execute((tx) =>
          source_id === undefined
            ? addApprovalRule(tx, owner, caller, { ...given, rule_type: 'regular' })
            : copyApprovalRule(tx, owner, caller, { source_id, approvals_required: given.approvals_required }),
        );
      const row = await ruleRows(services.db, caller).where('approval_rules.id', '=', id).executeTakeFirst();
      return presentMergeRequestRule(services, found(undefined, row));
    },
  }),
  put(`${ofOne}/:approval_rule_id`, {
    operation: 'updateMergeRequestApprovalRule',
    summary: 'Update an approval rule of a merge request',
    access: mergeRequestEditor,
    plan,
    input: { approval_rule_id: Id, ...changes },
    rules: [atLeastOneOf(...Object.keys(changes))],
    returns: one(MergeRequestApprovalRule),
    refusals: { 400: reasons },
    handle: async ({ caller, project, merge_request, input: { approval_rule_id: id, ...given }, ...services }) => {
      await refuseOwnRules(services.db, { project, merge_request });
      const owner = ownerOf({ project, merge_request });
      await services.db.transaction().execute((tx) => changeApprovalRule(tx, owner, caller, id, given));
      const row = await ruleRows(services.db, caller).where('approval_rules.id', '=', id).executeTakeFirst();
      return presentMergeRequestRule(services, found(undefined, row));
    },
  }),
  del(`${ofOne}/:approval_rule_id`, {
    operation: 'deleteMergeRequestApprovalRule',
    summary: 'Delete an approval rule of a merge request',
    access: mergeRequestEditor,
    plan,
    input: { approval_rule_id: Id },
    returns: nothing,
    handle: async ({ db, project, merge_request, input }) => {
      await refuseOwnRules(db, { project, merge_request });
      const owner = ownerOf({ project, merge_request });
      await db.transaction().execute((tx) => removeApprovalRule(tx, owner, input.approval_rule_id));
    },
  }),
];

export const approvalRuleRoutes = [...projectRules, ...mergeRequestRules];
