/** Approval settings of a project (docs/reference/approvals.md#settings). */
import { Type } from 'typebox';
import { mergeRequestsReader, projectRole } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { allOptional, atLeastOneOf, deprecated, get, one, post, resource } from '../../../../http/index.ts';
import { requireApprovals } from './rule_actions.ts';
import { changeProjectSettings, lockedText, selectiveText } from './setting_actions.ts';
import { type ApprovalSetting, projectSettings } from './setting_queries.ts';

const input = allOptional({
  approvals_before_merge: deprecated('use a rule', Type.Integer({ minimum: 0, maximum: 100 })),
  reset_approvals_on_push: Type.Boolean({ description: 'Whether a push to the source branch removes all approvals' }),
  selective_code_owner_removals: Type.Boolean({
    description:
      'Whether a push removes the approvals of code owners whose files it changes; only without `reset_approvals_on_push`',
  }),
  disable_overriding_approvers_per_merge_request: Type.Boolean({
    description: 'Whether merge requests cannot have rules of their own',
  }),
  merge_requests_author_approval: Type.Boolean({ description: 'Whether authors may approve their own merge requests' }),
  merge_requests_disable_committers_approval: Type.Boolean({
    description: 'Whether those who have added commits cannot approve',
  }),
  require_password_to_approve: deprecated('use `require_reauthentication_to_approve`', Type.Boolean()),
  require_reauthentication_to_approve: Type.Boolean({
    description: 'Whether `approval_password` is needed to approve',
  }),
});

const Configuration = resource('ProjectApprovals', {
  approvers: deprecated('always empty', Type.Array(Type.Object({}))),
  approver_groups: deprecated('always empty', Type.Array(Type.Object({}))),
  approvals_before_merge: deprecated('see the rules', Type.Integer()),
  reset_approvals_on_push: Type.Boolean(),
  selective_code_owner_removals: Type.Boolean(),
  disable_overriding_approvers_per_merge_request: Type.Boolean(),
  merge_requests_author_approval: Type.Boolean(),
  merge_requests_disable_committers_approval: Type.Boolean(),
  require_password_to_approve: Type.Boolean(),
  require_reauthentication_to_approve: Type.Boolean(),
});

async function configurationOf(db: Database, project_id: number) {
  const states = Object.entries(await projectSettings(db, project_id));
  const row = Object.fromEntries(states.map(([name, { value }]) => [name, value])) as Record<ApprovalSetting, boolean>;
  const any = await db
    .selectFrom('approval_rules')
    .select('approvals_required')
    .where('project_id', '=', project_id)
    .where('rule_type', '=', 'any_approver')
    .executeTakeFirst();
  const require_reauthentication_to_approve = row.require_password_to_approve;
  const approvals_before_merge = any?.approvals_required ?? 0;
  return { ...row, require_reauthentication_to_approve, approvals_before_merge, approvers: [], approver_groups: [] };
}

const path = '/projects/:id/approvals';

export const approvalSettingRoutes = [
  get(path, {
    operation: 'getProjectApprovals',
    summary: 'Show the approval settings of a project',
    access: mergeRequestsReader,
    plan: 'premium',
    returns: one(Configuration),
    handle: ({ db, project }) => configurationOf(db, project.id),
  }),
  post(path, {
    operation: 'updateProjectApprovals',
    summary: 'Change the approval settings of a project',
    access: projectRole('maintainer', { permission: 'manage_merge_request_settings' }),
    plan: 'premium',
    input,
    rules: [atLeastOneOf(...Object.keys(input))],
    returns: one(Configuration),
    refusals: { 400: [`<parameter>: ${lockedText}`, `selective_code_owner_removals: ${selectiveText}`] },
    handle: async ({ db, project, input: given }) => {
      const { approvals_before_merge, require_reauthentication_to_approve, ...columns } = given;
      const require_password_to_approve = require_reauthentication_to_approve ?? columns.require_password_to_approve;
      const changed = { ...columns, require_password_to_approve };
      await db.transaction().execute(async (tx) => {
        if (approvals_before_merge !== undefined) await requireApprovals(tx, project.id, approvals_before_merge);
        await changeProjectSettings(tx, project.id, changed);
      });
      return configurationOf(db, project.id);
    },
  }),
];
