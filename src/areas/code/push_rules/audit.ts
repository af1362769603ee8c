/** What audit events say of push rules. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

const rules = [
  'commit_message_regex',
  'commit_message_negative_regex',
  'branch_name_regex',
  'author_email_regex',
  'file_name_regex',
  'deny_delete_tag',
  'member_check',
  'prevent_secrets',
  'commit_committer_check',
  'commit_committer_name_check',
  'reject_unsigned_commits',
  'reject_non_dco_commits',
  'max_file_size',
] as const;

const either = (rest: string) => ({
  of: `case when it.project_id is not null then 'project_push_rules_${rest}' else 'group_push_rules_${rest}' end`,
  names: [`project_push_rules_${rest}`, `group_push_rules_${rest}`],
});

export const pushRuleAudit = auditedNoun({
  table: 'push_rules',
  type: 'PushRule',
  target: { details: "'Push rules'" },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: either('created'),
  removed: either('removed'),
  members: eachMember(rules, (rule) => ({ event: either(`${rule}_updated`) })),
});
