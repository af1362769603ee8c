/** Users, as administrators see and moderate them. */
import { projectPage } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { type Field, html, type PageCall, person, state, time } from '../../../pages/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { type ItemButton, listPart } from '../declared/list_present.ts';
import { dotted, onceView, textOf } from '../declared/views.ts';
import { roleNames } from '../places/level_rules.ts';

const hasState =
  (...states: string[]) =>
  (user: Values): boolean =>
    states.includes(String(user.state));

const isPerson = ({ bot }: Values): boolean => bot !== true;

/** What administrators do with an account, by its state. */
const moderation: Readonly<Record<string, ItemButton>> = {
  approve: {
    runs: 'approveUser',
    label: 'Approve',
    isFor: hasState('blocked_pending_approval'),
    done: 'The account can be used.',
  },
  reject: {
    runs: 'rejectUser',
    label: 'Reject',
    look: 'danger',
    isFor: hasState('blocked_pending_approval'),
    done: 'The account is rejected, and deleted.',
  },
  block: { runs: 'blockUser', label: 'Block', isFor: hasState('active'), done: 'The account is blocked.' },
  unblock: { runs: 'unblockUser', label: 'Unblock', isFor: hasState('blocked'), done: 'The account can be used.' },
  ban: { runs: 'banUser', label: 'Ban', look: 'danger', isFor: hasState('active'), done: 'The account is banned.' },
  unban: { runs: 'unbanUser', label: 'Unban', isFor: hasState('banned'), done: 'The account can be used.' },
  deactivate: {
    runs: 'deactivateUser',
    label: 'Deactivate',
    isFor: (user) => hasState('active')(user) && isPerson(user),
    done: 'The account is inactive until they sign in.',
  },
  activate: { runs: 'activateUser', label: 'Activate', isFor: hasState('deactivated'), done: 'The account is active.' },
};

const filters: readonly Field[] = [
  { name: 'search', label: 'Name, username or address' },
  {
    name: 'active',
    label: 'Active',
    kind: 'select',
    options: [
      { value: '', label: 'Any' },
      { value: 'true', label: 'Only active ones' },
    ],
  },
  {
    name: 'exclude_active',
    label: 'Not active',
    kind: 'select',
    options: [
      { value: '', label: 'Any' },
      { value: 'true', label: 'Waiting, blocked, banned or inactive' },
    ],
  },
  {
    name: 'admins',
    label: 'Role',
    kind: 'select',
    options: [
      { value: '', label: 'Any' },
      { value: 'true', label: 'Administrators' },
    ],
  },
  {
    name: 'order_by',
    label: 'Order',
    kind: 'select',
    options: [
      { value: 'id', label: 'Newest' },
      { value: 'name', label: 'Name' },
      { value: 'updated_at', label: 'Last changed' },
    ],
  },
];

const accountFields = fieldsOf({
  name: {},
  username: {},
  email: { label: 'Address' },
  admin: { label: 'Administrator', from: ({ is_admin }: Values) => is_admin },
  external: { label: 'External: sees only what they are a member of' },
  can_create_group: { label: 'Can create top-level groups' },
  private_profile: { label: 'Private profile' },
  projects_limit: { label: 'Personal projects at most' },
  note: { label: 'Note of administrators', kind: 'area' },
});

const usersPage = settingsPage('admin', 'users', [
  listPart('user', {
    list: 'listUsers',
    filters,
    names: ({ id }) => ({ id: Number(id) }),
    title: 'username',
    head: (user, { path }) =>
      html`${person(user as never)} <a href="${`${path}/${user.id}`}">@${textOf(user, 'username')}</a> ${state(textOf(user, 'state'))}`,
    line: ({ email, is_admin, bot, last_activity_on, created_at }) =>
      dotted([
        String(email),
        is_admin === true ? 'Administrator' : '',
        bot === true ? 'Program' : '',
        last_activity_on === null ? 'Never active' : `Active ${last_activity_on}`,
        html`since ${time(String(created_at))}`,
      ]),
    empty: 'Nobody is found.',
    create: formOf(
      'createUser',
      {
        ...accountFields,
        password: { kind: 'password', autocomplete: 'new-password', help: 'Left empty, a link is sent.' },
        reset_password: { label: 'Send a link to choose a password', value: true },
        skip_confirmation: { label: 'The address counts as confirmed', help: undefined },
      },
      { button: 'Create the user', heading: 'New user', is_sensitive: true },
    ),
    buttons: moderation,
  }),
]);

const user = (call: PageCall) => reading('getUser')(call);
const usernameOf = async (call: PageCall) => textOf(await user(call), 'username');
/** The endpoints of tokens call the user otherwise. */
const userId = ({ params: { id } }: PageCall): Values => ({ user_id: id });

const summary = part<Values>({
  load: user,
  view: (shown) => html`<p>${person(shown as never)} @${textOf(shown, 'username')} ${state(textOf(shown, 'state'))}</p>
<p class="soft">${dotted([
    textOf(shown, 'email'),
    shown.confirmed_at === null ? 'The address is not confirmed' : '',
    shown.current_sign_in_ip === null || shown.current_sign_in_ip === undefined
      ? ''
      : `From ${shown.current_sign_in_ip}`,
    shown.last_sign_in_at === null ? 'Never signed in' : html`signed in ${time(textOf(shown, 'last_sign_in_at'))}`,
  ])}</p>`,
});

/** The forms of moderation for one user. */
const moderationParts = Object.entries(moderation).map(([name, { runs, label, look, isFor, done }]) =>
  formPart(name, {
    runs,
    fields: {},
    button: label,
    look: look ?? 'plain',
    ...(done === undefined ? {} : { done }),
    ...(name === 'reject' ? { next: () => '/admin/users' } : {}),
    reads: user,
    ...(isFor ? { isShown: isFor } : {}),
  }),
);

const tokenOnce = (reply: Values, { path }: PageCall) =>
  onceView('The new token', [[textOf(reply, 'name'), reply.token]], path);

const tokenFields = fieldsOf({
  name: {},
  description: {},
  scopes: {
    words: {
      api: 'api: everything in the API and in git',
      read_api: 'read_api: reading with the API',
      read_user: 'read_user: reading users',
      read_repository: 'read_repository: fetching with git',
      write_repository: 'write_repository: fetching and pushing with git',
    },
  },
  expires_at: { label: 'Expires on' },
});

const userPage = settingsPage(
  'admin',
  'users',
  [
    summary,
    ...moderationParts,
    formPart('link', {
      ...formOf(
        'createSignInLink',
        {},
        {
          heading: 'Sign-in link',
          intro: 'With it they choose a password, once and within some hours. It signs out nobody.',
          button: 'Make a link',
          look: 'plain',
          is_sensitive: true,
          shows: (reply, { path }) => onceView('Their link', [[textOf(reply, 'username'), reply.link]], path),
        },
      ),
    }),
    formPart('account', {
      ...formOf('updateUser', accountFields, { heading: 'Account', button: 'Save', is_sensitive: true }),
      reads: user,
    }),
    formPart('project', {
      ...formOf(
        'createUserProject',
        { name: {}, path: { label: 'Path', help: 'By default made of the name.' }, visibility: {} },
        {
          heading: 'New project for them',
          button: 'Create the project',
          look: 'plain',
          next: ({ path_with_namespace }) => projectPage(String(path_with_namespace)),
        },
      ),
      given: userId,
    }),
    listPart('email', {
      heading: 'Addresses',
      list: 'listUserEmails',
      names: ({ id }) => ({ email_id: Number(id) }),
      title: 'email',
      line: ({ confirmed_at }) => (confirmed_at === null ? 'Not confirmed yet' : 'Confirmed'),
      empty: 'There are no further addresses.',
      create: formOf(
        'createUserEmail',
        { email: { label: 'Address' }, skip_confirmation: { label: 'It counts as confirmed', help: undefined } },
        { button: 'Add the address', heading: 'Add an address' },
      ),
      buttons: {
        remove: { runs: 'deleteUserEmail', label: 'Remove', look: 'danger', done: 'The address is removed.' },
      },
    }),
    listPart('key', {
      heading: 'SSH keys',
      list: 'listUserKeys',
      names: ({ id }) => ({ key_id: Number(id) }),
      title: 'title',
      line: ['created_at', 'last_used_at', 'expires_at'],
      empty: 'There are no keys.',
      buttons: { remove: { runs: 'deleteUserKey', label: 'Delete', look: 'danger', done: 'The key is deleted.' } },
    }),
    listPart('impersonation', {
      heading: 'Tokens to act as them',
      list: 'listImpersonationTokens',
      given: (call) => ({ ...userId(call), state: 'active' }),
      names: ({ id, user_id }) => ({ user_id: Number(user_id), impersonation_token_id: Number(id) }),
      title: 'name',
      line: ['scopes', 'description', 'last_used_at', 'expires_at'],
      empty: 'There are none.',
      buttons: {
        revoke: {
          runs: 'revokeImpersonationToken',
          label: 'Revoke',
          look: 'danger',
          done: 'The token does not work any more.',
        },
      },
    }),
    formPart('impersonate', {
      ...formOf('createImpersonationToken', tokenFields, {
        button: 'Create the token',
        look: 'plain',
        is_sensitive: true,
        shows: tokenOnce,
      }),
      given: userId,
    }),
    listPart('membership', {
      heading: 'Where they are a member',
      list: 'listUserMemberships',
      names: ({ source_type, source_id }) => ({ source: `${source_type} ${source_id}` }),
      title: 'source_name',
      line: ({ source_type, access_level }) =>
        `${roleNames[String(access_level)]} of a ${source_type === 'Project' ? 'project' : 'group'}`,
      empty: 'Nowhere.',
    }),
    formPart('delete', {
      ...formOf(
        'deleteUser',
        { hard_delete: { label: 'Also what they have written, their projects and groups', help: undefined } },
        {
          heading: 'Delete',
          intro: 'What they have written then belongs to a ghost, and their personal projects are deleted.',
          button: 'Delete the user',
          look: 'danger',
          is_sensitive: true,
          typed: usernameOf,
          next: () => '/admin/users',
        },
      ),
    }),
  ],
  { path: '/admin/users/:id', titled: usernameOf },
);

export const adminUserPages = [usersPage, userPage];
