/** Approvals: what merge requests need, and by whom. */
import type { Values } from '../../../http/index.ts';
import type { Content } from '../../../pages/index.ts';
import { fieldsOf, formOf, settingsPage } from '../declared/definition.ts';
import { choicesOf, formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted } from '../declared/views.ts';

interface Setting {
  value: boolean;
  locked: boolean;
}

/** The field of a setting; what a group above has locked is left out. */
const setting = (name: string, label: string) => ({
  label,
  help: undefined,
  from: (reply: Values) => (reply[name] as Setting).value,
  isFor: (reply: Values) => !(reply[name] as Setting).locked,
});

const settings = fieldsOf({
  allow_author_approval: setting('allow_author_approval', 'Authors may approve'),
  allow_committer_approval: setting('allow_committer_approval', 'Who has added commits may approve'),
  allow_overrides_to_approver_list_per_merge_request: setting(
    'allow_overrides_to_approver_list_per_merge_request',
    'Merge requests may change their rules',
  ),
  retain_approvals_on_push: setting('retain_approvals_on_push', 'Approvals stay when commits are added'),
  selective_code_owner_removals: setting(
    'selective_code_owner_removals',
    'Only approvals of owners of changed files end when commits are added',
  ),
  require_password_to_approve: setting('require_password_to_approve', 'Approving asks for the password'),
});

const settingPart = (noun: 'Project' | 'Group') =>
  formPart('approval_setting', {
    ...formOf(`update${noun}ApprovalSetting`, settings, {
      button: 'Save changes',
      intro:
        noun === 'Group'
          ? 'They hold for all projects of the group, which cannot loosen them.'
          : 'What the server or the group has set is not listed here.',
    }),
    reads: reading(`get${noun}ApprovalSetting`),
  });

const usernamesOf = ({ users }: Values): string[] => (users as { username: string }[]).map(({ username }) => username);
const idsOf = (items: unknown): number[] => (items as { id: number }[]).map(({ id }) => id);

/** Who has to approve, and how often, in forms for rules. */
export const approverFields = fieldsOf({
  name: {},
  approvals_required: { label: 'Approvals that are needed', help: undefined },
  usernames: {
    label: 'By these people',
    help: 'Usernames, separated by commas.',
    from: usernamesOf,
    refused_as: ['users', 'user_ids'],
  },
  group_ids: {
    label: 'Or by members of these groups',
    kind: 'checkboxes',
    choices: choicesOf('listProjectGroups', { label: 'full_path', parameters: { with_shared: true } }),
    from: ({ groups }: Values) => idsOf(groups),
    help: undefined,
    refused_as: ['groups'],
  },
});

const ruleFields = fieldsOf({
  ...approverFields,
  applies_to_all_protected_branches: { label: 'For all protected branches', help: undefined },
  protected_branch_ids: {
    label: 'For these branches; without any, for all',
    kind: 'checkboxes',
    choices: choicesOf('listProtectedBranches', { label: 'name' }),
    from: ({ protected_branches }: Values) => idsOf(protected_branches),
    help: undefined,
    refused_as: ['protected_branches'],
  },
});

/** Who has to approve, and how often, in words. */
export const approversLine = ({ approvals_required, users, groups }: Values): Content => {
  const of = [
    ...usernamesOf({ users }).map((name) => `@${name}`),
    ...(groups as { full_path: string }[]).map(({ full_path }) => full_path),
  ];
  return dotted([`${approvals_required} needed`, of.length > 0 ? `by ${of.join(', ')}` : 'by anyone']);
};

const rulesPart = listPart('rule', {
  heading: 'Rules',
  list: 'listProjectApprovalRules',
  names: ({ id }) => ({ approval_rule_id: Number(id) }),
  title: 'name',
  line: (rule) => {
    const branches = (rule.protected_branches as { name: string }[]).map(({ name }) => name);
    return dotted([approversLine(rule), branches.length > 0 ? `for ${branches.join(', ')}` : '']);
  },
  empty: 'There are no rules: no approval is needed.',
  create: formOf('createProjectApprovalRule', ruleFields, { button: 'Add the rule', heading: 'New rule' }),
  edit: formOf('updateProjectApprovalRule', ruleFields, { button: 'Save' }),
  buttons: {
    remove: { runs: 'deleteProjectApprovalRule', label: 'Delete', look: 'danger', done: 'The rule is deleted.' },
  },
});

export const approvalPages = [
  settingsPage('project', 'approvals', [rulesPart, settingPart('Project')]),
  settingsPage('group', 'approvals', [settingPart('Group')]),
];
