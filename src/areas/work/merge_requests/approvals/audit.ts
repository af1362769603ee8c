/** What audit events say of the approval rules of projects. Those of a single merge request are a part of it. */
import { auditedNoun, eachMember } from '../../../instance/audit_events/index.ts';

export const approvalRuleAudit = auditedNoun({
  table: 'approval_rules',
  type: 'ApprovalProjectRule',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id' },
  only_if: 'it.merge_request_id is null',
  added: 'approval_rule_created',
  removed: 'approval_rule_deleted',
  members: eachMember(['name', 'rule_type', 'approvals_required', 'applies_to_all_protected_branches'], () => ({
    event: 'update_approval_rules',
  })),
});

const rule = (column: string) => `(select ${column} from approval_rules where id = it.approval_rule_id)`;
const ofRule = {
  target: { id: 'it.approval_rule_id', details: rule('name') },
  entity: { Project: rule('project_id') },
  only_if: `${rule('merge_request_id')} is null`,
  added: 'update_approval_rules',
  removed: 'update_approval_rules',
};

export const approvalRuleUserAudit = auditedNoun({ ...ofRule, table: 'approval_rule_users', type: 'ApprovalRuleUser' });
export const approvalRuleGroupAudit = auditedNoun({
  ...ofRule,
  table: 'approval_rule_groups',
  type: 'ApprovalRuleGroup',
});
export const approvalRuleBranchAudit = auditedNoun({
  ...ofRule,
  table: 'approval_rule_protected_branches',
  type: 'ApprovalRuleProtectedBranch',
});

export const groupApprovalSettingsAudit = auditedNoun({
  table: 'group_approval_settings',
  type: 'Group',
  target: { id: 'it.group_id', details: '(select full_path from namespaces where id = it.group_id)' },
  entity: { Group: 'it.group_id' },
  added: 'group_approval_settings_updated',
  rest: { event: 'group_*_updated', but: ['group_id'], silent: [] },
});
