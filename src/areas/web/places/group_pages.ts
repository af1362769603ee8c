/** Settings that only groups have: general, permissions, roles, service accounts, seats and placeholders. */
import type { Values } from '../../../http/index.ts';
import { chip, html, type PageCall, person, time } from '../../../pages/index.ts';
import { type DeclaredField, fieldsOf, formOf, settingsPage } from '../declared/definition.ts';
import { choicesOf, formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, onceView, textOf } from '../declared/views.ts';
import { featureWords, roleNames, visibilityWords } from './level_rules.ts';
import { memberRoleFields } from './role_rules.ts';

const group = reading('getGroup', { with_projects: false });

const generalPage = settingsPage('group', 'general', [
  formPart('general', {
    ...formOf(
      'updateGroup',
      { name: {}, description: { kind: 'area' }, visibility: { words: visibilityWords } },
      { button: 'Save changes' },
    ),
    reads: group,
  }),
  formPart('picture', {
    ...formOf(
      'updateGroup',
      { avatar: { label: 'Picture', help: 'A PNG, JPEG, GIF or WebP file of at most 200 KiB.' } },
      { button: 'Upload', heading: 'Picture' },
    ),
  }),
  formPart('remove_picture', {
    ...formOf(
      'updateGroup',
      {},
      { button: 'Remove the picture', look: 'danger', parameters: { avatar: null }, done: 'The picture is removed.' },
    ),
    reads: group,
    isShown: ({ avatar_url }) => avatar_url !== null,
  }),
]);

const featuresPage = settingsPage('group', 'features', [
  formPart('features', {
    ...formOf(
      'updateGroup',
      {
        project_creation_level: {
          label: 'Who may create projects',
          words: {
            noone: 'No one',
            administrator: 'Administrators',
            owner: 'Owners',
            maintainer: 'Maintainers',
            developer: 'Developers and Maintainers',
          },
        },
        subgroup_creation_level: {
          label: 'Who may create subgroups',
          words: { owner: 'Owners', maintainer: 'Maintainers' },
        },
        request_access_enabled: { label: 'People can ask for access' },
        share_with_group_lock: { label: 'Projects cannot be shared with other groups' },
        ip_restriction_ranges: { label: 'The group is reached only from' },
        require_two_factor_authentication: { label: 'Members must have a second factor', help: undefined },
        two_factor_grace_period: { label: 'Hours to set it up', help: 'With 0, at once.' },
        membership_lock: { label: 'Projects cannot have members of their own', help: undefined },
        mentions_disabled: { label: 'Nobody can mention the whole group' },
        emails_enabled: { label: 'Mail about what happens here' },
        lfs_enabled: { label: 'Large files (LFS)' },
        wiki_access_level: { label: 'Wiki', words: featureWords },
        default_branch: { label: 'Default branch of new projects', help: undefined },
        default_branch_protection: {
          label: 'Protection of the default branch of new projects',
          words: {
            0: 'None',
            1: 'Against force pushes',
            2: 'Full',
            3: 'Against pushes of Developers',
            4: 'Full after the first push',
          },
        },
      },
      { button: 'Save changes' },
    ),
    reads: group,
  }),
]);

const rolesPage = settingsPage('group', 'member_roles', [
  listPart('role', {
    list: 'listGroupMemberRoles',
    intro: 'A role of your own begins with a role that there is, and adds rights.',
    names: ({ id }) => ({ member_role_id: Number(id) }),
    title: 'name',
    line: (role) => roleLine(role),
    empty: 'There are no roles of this group.',
    create: formOf('createGroupMemberRole', memberRoleFields, { button: 'Create the role', heading: 'New role' }),
    edit: formOf('updateGroupMemberRole', memberRoleFields, { button: 'Save' }),
    buttons: {
      remove: { runs: 'deleteGroupMemberRole', label: 'Delete', look: 'danger', done: 'The role is deleted.' },
    },
  }),
]);

/** What a role adds to another one. */
export const roleLine = (role: Values) => {
  const rights = Object.entries<DeclaredField>(memberRoleFields).flatMap(([name, { label }]) =>
    role[name] === true && label !== undefined ? [label] : [],
  );
  const { description, base_access_level } = role;
  return dotted([
    description === null ? '' : String(description),
    `${roleNames[String(base_access_level)]}${rights.length > 0 ? ', and also: ' : ''}${rights.join(', ')}`,
  ]);
};

const accountFields = fieldsOf({ name: {}, username: {}, email: { label: 'Address' } });

const serviceAccountsPage = settingsPage('group', 'service_accounts', [
  listPart('account', {
    list: 'listGroupServiceAccounts',
    intro: 'Accounts for programs, which take no seat. Their tokens are on their pages.',
    names: ({ id }) => ({ user_id: Number(id) }),
    title: 'name',
    head: ({ id, name }, { path }) => html`<a href="${`${path}/${id}`}">${String(name)}</a>`,
    line: ({ username, email }) => dotted([`@${username}`, email === undefined ? '' : String(email)]),
    empty: 'There are no service accounts.',
    create: formOf('createGroupServiceAccount', accountFields, {
      button: 'Create the account',
      heading: 'New service account',
    }),
    edit: formOf('updateGroupServiceAccount', accountFields, { button: 'Save' }),
    buttons: {
      remove: {
        runs: 'deleteGroupServiceAccount',
        label: 'Delete',
        look: 'danger',
        is_sensitive: true,
        done: 'The account is deleted.',
      },
    },
  }),
]);

const tokenOnce = (reply: Values, { path }: PageCall) =>
  onceView('Its new token', [[textOf(reply, 'name'), reply.token]], path);

const serviceAccountPage = settingsPage(
  'group',
  'service_accounts',
  [
    listPart('token', {
      list: 'listGroupServiceAccountTokens',
      given: () => ({ state: 'active', sort: 'created_desc' }),
      names: ({ id }) => ({ token_id: Number(id) }),
      title: 'name',
      line: ['scopes', 'description', 'last_used_at', 'expires_at'],
      empty: 'It has no tokens.',
      create: formOf(
        'createGroupServiceAccountToken',
        {
          name: {},
          description: {},
          scopes: {
            words: {
              api: 'api: everything in the API and in git',
              read_api: 'read_api: reading with the API',
              read_repository: 'read_repository: fetching with git',
              write_repository: 'write_repository: fetching and pushing with git',
            },
          },
          expires_at: { label: 'Expires on', help: 'Left empty, it lasts as long as a token may.' },
        },
        { button: 'Create the token', heading: 'New token', is_sensitive: true, shows: tokenOnce },
      ),
      buttons: {
        rotate: {
          runs: 'rotateGroupServiceAccountToken',
          label: 'Rotate',
          is_sensitive: true,
          shows: tokenOnce,
        },
        revoke: {
          runs: 'revokeGroupServiceAccountToken',
          label: 'Revoke',
          look: 'danger',
          done: 'The token does not work any more.',
        },
      },
    }),
  ],
  { path: '/groups/:id/-/settings/service_accounts/:user_id', title: 'Tokens of a service account' },
);

const seatsPage = settingsPage('group', 'seats', [
  listPart('seat', {
    list: 'listBillableMembers',
    intro: 'Everyone who takes a seat in the group or in one of its projects.',
    names: ({ id }) => ({ user_id: Number(id) }),
    title: 'name',
    head: (user, { path }) =>
      html`${person(user as never)} <a href="${`${path}/${user.id}`}">@${textOf(user, 'username')}</a> ${user.is_last_owner === true && chip('Last owner')}`,
    line: ({ membership_type, last_activity_on, last_login_at }) =>
      html`${textOf({ membership_type }, 'membership_type').replaceAll('_', ' ')}${last_activity_on !== null && html`, last active ${String(last_activity_on)}`}${last_login_at !== null && html`, signed in ${time(String(last_login_at))}`}`,
    empty: 'Nobody takes a seat here.',
    buttons: {
      remove: {
        runs: 'deleteBillableMember',
        label: 'Remove from the group',
        look: 'danger',
        isFor: ({ removable }) => removable === true,
        done: 'They are no members any more.',
      },
    },
  }),
]);

const seatOf = ({ params: { seat_id } }: PageCall): Values => ({ user_id: seat_id });

const membershipPart = (name: string, list: 'listBillableMemberships' | 'listIndirectBillableMemberships') =>
  listPart(name, {
    list,
    heading: name === 'membership' ? 'Member of' : 'Through invited groups',
    given: seatOf,
    names: ({ id }) => ({ id: Number(id) }),
    title: 'source_full_name',
    head: ({ source_full_name, source_members_url }) =>
      html`<a href="${new URL(String(source_members_url)).pathname}">${String(source_full_name)}</a>`,
    line: ({ access_level, expires_at, created_at }) =>
      dotted([
        textOf(access_level as Values, 'string_value'),
        html`since ${time(String(created_at))}`,
        expires_at === null ? '' : `until ${expires_at}`,
      ]),
    empty: 'Nothing.',
  });

/** Why somebody takes a seat. */
const seatPage = settingsPage(
  'group',
  'seats',
  [
    membershipPart('membership', 'listBillableMemberships'),
    membershipPart('indirect', 'listIndirectBillableMemberships'),
  ],
  { path: '/groups/:id/-/settings/seats/:seat_id', title: 'Why they take a seat' },
);

const placeholdersPage = settingsPage('group', 'placeholders', [
  listPart('placeholder', {
    list: 'listPlaceholdersOfGroup',
    intro: 'Imported work belongs to placeholders until it is given to a user here, or its author accepts it.',
    names: ({ id }) => ({ placeholder_id: Number(id) }),
    title: 'source_name',
    line: ({ source_username, source_host, contributions }) =>
      dotted([`${source_username} at ${source_host}`, `${contributions} contributions`]),
    empty: 'There are no placeholders.',
    edit: formOf(
      'reassignPlaceholderOfGroup',
      {
        user_id: {
          label: 'Whose work it is',
          choices: choicesOf('listAllGroupMembers', { label: 'name' }),
        },
      },
      { button: 'Give it to them', done: 'The work is being given to them.' },
    ),
  }),
]);

export const groupSettingsPages = [
  generalPage,
  featuresPage,
  rolesPage,
  serviceAccountsPage,
  serviceAccountPage,
  seatsPage,
  seatPage,
  placeholdersPage,
];
