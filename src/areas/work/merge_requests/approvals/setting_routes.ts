/** What a project says of approvals (docs/reference/approvals.md#settings). */
import { Type } from 'typebox';
import { mergeRequestsReader, projectRole } from '../../../../access/index.ts';
import { type Database, stamped } from '../../../../db/index.ts';
import { allOptional, atLeastOneOf, deprecated, get, invalid, one, post, resource } from '../../../../http/index.ts';
import { retryWaiting } from '../../../code/commit_statuses/index.ts';
import { requireApprovals } from './rule_actions.ts';

const switches = [
  ...([
    'reset_approvals_on_push',
    'disable_overriding_approvers_per_merge_request',
    'merge_requests_author_approval',
  ] as const),
  ...([
    'merge_requests_disable_committers_approval',
    'require_password_to_approve',
    'selective_code_owner_removals',
  ] as const),
];

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
  const row = await db.selectFrom('projects').select(switches).where('id', '=', project_id).executeTakeFirstOrThrow();
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

const selectiveText = 'can only be enabled without reset_approvals_on_push';

/** @throws ApiError 400 when both resets would be on; turning the complete one on turns the other one off, unless the call names it */
async function changeSettings(
  tx: Database,
  id: number,
  given: Partial<Record<(typeof switches)[number], boolean | undefined>>,
) {
  const before = tx.selectFrom('projects').select('reset_approvals_on_push').where('id', '=', id).forNoKeyUpdate();
  const resets = given.reset_approvals_on_push ?? (await before.executeTakeFirstOrThrow()).reset_approvals_on_push;
  if (resets && given.selective_code_owner_removals) throw invalid({ selective_code_owner_removals: [selectiveText] });
  const changed = { ...given, ...(resets ? { selective_code_owner_removals: false } : {}) };
  await tx.updateTable('projects').set(stamped(changed)).where('id', '=', id).execute();
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
    access: projectRole('maintainer', { archived: true, permission: 'manage_merge_request_settings' }),
    plan: 'premium',
    input,
    rules: [atLeastOneOf(...Object.keys(input))],
    returns: one(Configuration),
    refusals: { 400: `selective_code_owner_removals: ${selectiveText}` },
    handle: async ({ db, project, input: given }) => {
      const { approvals_before_merge, require_reauthentication_to_approve, ...columns } = given;
      const require_password_to_approve = require_reauthentication_to_approve ?? columns.require_password_to_approve;
      const changed = { ...columns, require_password_to_approve };
      await db.transaction().execute(async (tx) => {
        await changeSettings(tx, project.id, changed);
        if (approvals_before_merge !== undefined) await requireApprovals(tx, project.id, approvals_before_merge);
        await retryWaiting(tx, { project_id: project.id });
      });
      return configurationOf(db, project.id);
    },
  }),
];
