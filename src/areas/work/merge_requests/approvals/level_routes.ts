/** The approval settings of a project or group, with the level that decides each (docs/reference/approvals.md#settings-of-groups). */
import { type Static, Type } from 'typebox';
import { groupRole, projectRole } from '../../../../access/index.ts';
import { allOptional, atLeastOneOf, get, one, put, resource } from '../../../../http/index.ts';
import {
  changeGroupSettings,
  changeProjectSettings,
  lockedText,
  type SettingChanges,
  selectiveText,
} from './setting_actions.ts';
import { type ApprovalSetting, groupSettings, projectSettings, type SettingStates } from './setting_queries.ts';

/** The public names, some of which negate the stored value. */
const settings = {
  allow_author_approval: { of: 'merge_requests_author_approval', isOpposite: false },
  allow_committer_approval: { of: 'merge_requests_disable_committers_approval', isOpposite: true },
  allow_overrides_to_approver_list_per_merge_request: {
    of: 'disable_overriding_approvers_per_merge_request',
    isOpposite: true,
  },
  retain_approvals_on_push: { of: 'reset_approvals_on_push', isOpposite: true },
  selective_code_owner_removals: { of: 'selective_code_owner_removals', isOpposite: false },
  require_password_to_approve: { of: 'require_password_to_approve', isOpposite: false },
  require_reauthentication_to_approve: { of: 'require_password_to_approve', isOpposite: false },
} as const satisfies Readonly<Record<string, { of: ApprovalSetting; isOpposite: boolean }>>;
type Name = keyof typeof settings;
const names = Object.keys(settings) as Name[];

const State = Type.Object({
  value: Type.Boolean(),
  locked: Type.Boolean({ description: 'Whether a group above decides on it' }),
  inherited_from: Type.Union([Type.Enum(['instance', 'group']), Type.Null()]),
});
const ApprovalSettings = resource(
  'MergeRequestApprovalSettings',
  Object.fromEntries(names.map((name) => [name, State])) as Record<Name, typeof State>,
);

const present = (states: SettingStates) =>
  Object.fromEntries(
    names.map((name) => {
      const { of, isOpposite } = settings[name];
      const { value, is_locked } = states[of];
      return [name, { value: value !== isOpposite, locked: is_locked, inherited_from: is_locked ? 'group' : null }];
    }),
  ) as Static<typeof ApprovalSettings>;

const input = allOptional(
  Object.fromEntries(names.map((name) => [name, Type.Boolean()])) as Record<Name, ReturnType<typeof Type.Boolean>>,
);

const changesFrom = (given: Partial<Record<Name, boolean | undefined>>): SettingChanges =>
  Object.fromEntries(
    names
      .filter((name) => given[name] !== undefined)
      .map((name) => [settings[name].of, given[name]! !== settings[name].isOpposite]),
  );

/** The parameter in a request for a setting. */
const namesIn = (given: Partial<Record<Name, boolean | undefined>>) => (setting: ApprovalSetting) =>
  names.find((name) => settings[name].of === setting && given[name] !== undefined) ?? setting;

const plan = 'premium';
const project = projectRole('maintainer', { permission: 'manage_merge_request_settings' });
const group = groupRole('owner');

export const approvalLevelRoutes = [
  get('/projects/:id/merge_request_approval_setting', {
    operation: 'getProjectApprovalSetting',
    summary: 'Show the approval settings of a project, and which of them a group decides on',
    access: project,
    plan,
    returns: one(ApprovalSettings),
    handle: async ({ db, project: { id } }) => present(await projectSettings(db, id)),
  }),
  put('/projects/:id/merge_request_approval_setting', {
    operation: 'updateProjectApprovalSetting',
    summary: 'Change the approval settings of a project',
    access: project,
    plan,
    input,
    rules: [atLeastOneOf(...names)],
    returns: one(ApprovalSettings),
    refusals: { 400: [`<parameter>: ${lockedText}`, `selective_code_owner_removals: ${selectiveText}`] },
    handle: ({ db, project: { id }, input: given }) =>
      db.transaction().execute(async (tx) => {
        await changeProjectSettings(tx, id, changesFrom(given), namesIn(given));
        return present(await projectSettings(tx, id));
      }),
  }),
  get('/groups/:id/merge_request_approval_setting', {
    operation: 'getGroupApprovalSetting',
    summary: 'Show the approval settings of a group, and which of them a group above decides on',
    access: group,
    plan,
    returns: one(ApprovalSettings),
    handle: async ({ db, group: { id } }) => present(await groupSettings(db, id)),
  }),
  put('/groups/:id/merge_request_approval_setting', {
    operation: 'updateGroupApprovalSetting',
    summary:
      'Change the approval settings of a group, which decide on those of all projects below where they are stricter',
    access: group,
    plan,
    input,
    rules: [atLeastOneOf(...names)],
    returns: one(ApprovalSettings),
    refusals: { 400: `<parameter>: ${lockedText}` },
    handle: ({ db, group: { id }, input: given }) =>
      db.transaction().execute(async (tx) => {
        await changeGroupSettings(tx, id, changesFrom(given), namesIn(given));
        return present(await groupSettings(tx, id));
      }),
  }),
];
