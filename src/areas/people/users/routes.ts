/** Users (docs/reference/users.md). */
import { Type } from 'typebox';
import { admin, anyone, type MaybeCaller, signedIn } from '../../../access/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { editOf, inOrder } from '../../../fields/index.ts';
import {
  type Access,
  allOptional,
  allOrNoneOf,
  atLeastOneOf,
  type Caller,
  checked,
  Direction,
  del,
  forbidden,
  get,
  Id,
  invalid,
  NotBlank,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
} from '../../../http/index.ts';
import { keysetPaging, mapPage } from '../../../lists/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { Avatar, avatarTexts, receiveAvatar, setAvatar } from '../avatars/actions.ts';
import { attributeFilters, attributeForm, showAttributes, withAttributes } from '../custom_attributes/queries.ts';
import { emailReasons } from '../emails/rules.ts';
import { usernameReasons } from '../namespaces/rules.ts';
import { changeUser, createUser } from './actions.ts';
import { userFields } from './fields.ts';
import { adminFilters, hasIdentity, userFilters } from './filters.ts';
import { type Identity, removeIdentity, setIdentity } from './identity_actions.ts';
import {
  CurrentUser,
  presentOwnUser,
  presentProfile,
  presentUserBasic,
  presentUserForAdmin,
  presentUserInDetail,
  User,
  UserForAdmin,
  userBasicColumns,
} from './present.ts';
import { basicUser, listUsers, type UserOrder, userInFull, usersInFull } from './queries.ts';
import { atMost, passwordReasons, personNameReasons } from './rules.ts';

const profile = inOrder(
  [
    ...[
      'admin',
      'external',
      'can_create_group',
      'private_profile',
      'projects_limit',
      'bio',
      'location',
      'organization',
    ],
    ...['job_title', 'pronouns', 'linkedin', 'twitter', 'discord', 'github', 'website_url', 'public_email'],
    ...['commit_email', 'note'],
  ],
  editOf(userFields),
);

const account = {
  email: checked(Type.String(), emailReasons),
  name: checked(Type.String(), personNameReasons),
  username: checked(Type.String(), usernameReasons),
};
/** The account of the user at an external provider. */
const identity = allOptional({
  provider: checked(NotBlank({ description: 'Name of the external provider; requires `extern_uid`' }), atMost(255)),
  extern_uid: checked(NotBlank({ description: 'ID of the user at the provider' }), atMost(255)),
});
type GivenIdentity = { [Field in keyof Identity]?: string };

/** The identity in a request, in which the two parameters are given both or not at all. */
const identityIn = ({ provider, extern_uid }: GivenIdentity): Identity | undefined =>
  provider === undefined || extern_uid === undefined ? undefined : { provider, extern_uid };

const Password = () => checked(Type.String(), passwordReasons);

const order = {
  order_by: optional(Type.Enum(['id', 'name', 'username', 'created_at', 'updated_at'])),
  sort: optional(Direction),
};

/** Signed-in callers. Others get an error text of its own. */
const userReader: Access<{ caller: Caller }> = {
  rule: 'signed in',
  async check({ caller }) {
    if (!caller) throw forbidden('Not authorized!');
    return { caller };
  },
};

type ListInput = Parameters<typeof listUsers>[2] &
  GivenIdentity & { username?: string; custom_attributes?: Record<string, string>; with_custom_attributes: boolean };

async function listForAdmin(db: Database, url: string, caller: Caller, input: ListInput) {
  const all = usersInFull(db, caller)
    .where(userFilters.matching(input))
    .where(adminFilters.matching(input))
    .where(withAttributes('user', caller, input));
  const identity = identityIn(input);
  const page = await listUsers(db, identity ? all.where(hasIdentity(identity)) : all, input, true);
  const { items, ...rest } = mapPage(page, (user) => presentUserForAdmin(url, user));
  return { ...rest, items: await showAttributes(db, 'user', { caller, input }, items) };
}

/** Whether anonymous callers can look up users; not where public visibility is restricted. */
const isOpenToAll = async (db: Database) => !(await settingsOf(db)).restricted_visibility_levels.includes('public');

async function listForOthers(db: Database, url: string, caller: MaybeCaller, input: ListInput & UserOrder) {
  if (!caller && (input.username === undefined || !(await isOpenToAll(db))))
    throw forbidden('Not authorized to access /api/v4/users');
  if (identityIn(input)) throw forbidden();
  const { order_by: _column, sort: _direction, ...rest } = input;
  const query = db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.user_type', '<>', 'placeholder')
    .where(userFilters.matching(rest));
  const page = await listUsers(db, query, rest, false);
  return mapPage(page, (user) => presentUserBasic(url, user));
}

const AvatarUrl = resource('AvatarUrl', { avatar_url: nullable(Type.String()) });

export const userRoutes = [
  get('/user', {
    operation: 'getCurrentUser',
    summary: 'Show the current user',
    access: signedIn,
    scopes: ['read_user'],
    returns: one(CurrentUser),
    handle: async ({ db, url, caller }) => {
      const user = await userInFull(db, caller, caller.id);
      return caller.admin ? presentUserForAdmin(url, user) : presentOwnUser(url, user);
    },
  }),
  get('/users', {
    operation: 'listUsers',
    summary: 'List users',
    description:
      'Callers without a token must name a `username`. While public visibility is restricted, they are refused.',
    access: anyone,
    scopes: ['read_user'],
    input: {
      search: optional(Type.String()),
      ...userFilters.input,
      ...adminFilters.input,
      ...identity,
      ...attributeFilters,
      ...attributeForm,
      ...order,
      ...keysetPaging,
    },
    rules: [allOrNoneOf('extern_uid', 'provider')],
    returns: pageOf(User),
    refusals: { 403: '403 Forbidden - Not authorized to access /api/v4/users' },
    handle: ({ db, url, caller, input }) =>
      caller?.admin ? listForAdmin(db, url, caller, input) : listForOthers(db, url, caller, input),
  }),
  get('/users/:id', {
    operation: 'getUser',
    summary: 'Show a user',
    access: userReader,
    rate: { setting: 'users_get_by_id_limit', window_s: 600, spared: 'users_get_by_id_limit_allowlist' },
    scopes: ['read_user'],
    input: { id: Id, ...attributeForm },
    returns: one(User),
    refusals: { 403: '403 Forbidden - Not authorized!', 404: '404 User Not Found' },
    handle: async ({ db, url, caller, input }) => {
      const user = await userInFull(db, caller, input.id);
      // A private profile shows no more than a comment of its user does.
      if (user.private_profile && !caller.admin && user.id !== caller.id) return presentUserBasic(url, user);
      const shown = caller.admin ? presentUserInDetail(url, user) : presentProfile(url, user);
      return (await showAttributes(db, 'user', { caller, input }, [shown]))[0]!;
    },
  }),
  post('/users', {
    operation: 'createUser',
    summary: 'Create a user',
    access: admin,
    input: {
      ...account,
      ...identity,
      password: optional(Password()),
      reset_password: optional(
        Type.Boolean({ description: 'Whether to set no password; takes precedence over `password`' }),
      ),
      force_random_password: optional(
        Type.Boolean({ description: 'Whether to set no password; takes precedence over `password`' }),
      ),
      skip_confirmation: Type.Boolean({ default: false }),
      ...profile,
      avatar: Avatar(),
    },
    rules: [atLeastOneOf('password', 'reset_password', 'force_random_password'), allOrNoneOf('extern_uid', 'provider')],
    returns: one(UserForAdmin),
    refusals: {
      400: ['<parameter>: <reason>', ...avatarTexts],
      409: ['Email has already been taken', 'Username has already been taken'],
    },
    handle: async ({ db, url, blobs, caller, input: { avatar, provider, extern_uid, ...input } }) => {
      const given = identityIn({ provider, extern_uid });
      const { email, name, username, password, admin: isAdmin, ...rest } = input;
      const { reset_password = false, force_random_password = false, skip_confirmation, ...others } = rest;
      const isKnown = !reset_password && !force_random_password;
      if (isKnown && password === undefined) throw invalid({ password: ["can't be blank"] });
      const received = await receiveAvatar({ db, blobs }, avatar);
      const user = { email, name, username, password: isKnown ? password : undefined, admin: isAdmin, profile: others };
      const id = await repeated(db, async (tx) => {
        const made = await createUser(tx, { ...user, confirmed: skip_confirmation, created_by_id: caller.id });
        if (given) await setIdentity(tx, made, given);
        await setAvatar(tx, 'users', made, received);
        return made;
      });
      return presentUserForAdmin(url, await userInFull(db, caller, id));
    },
  }),
  put('/users/:id', {
    operation: 'updateUser',
    summary: 'Update a user',
    access: admin,
    input: {
      id: Id,
      ...allOptional(account),
      ...identity,
      password: optional(Password()),
      skip_reconfirmation: Type.Boolean({
        default: false,
        description: 'Whether a new email address is confirmed at once',
      }),
      ...profile,
      avatar: Avatar(),
    },
    rules: [allOrNoneOf('extern_uid', 'provider')],
    returns: one(UserForAdmin),
    refusals: {
      400: ['<parameter>: <reason>', ...avatarTexts],
      404: '404 User Not Found',
      409: ['Email has already been taken', 'Username has already been taken'],
    },
    handle: async ({
      db,
      url,
      blobs,
      caller,
      input: { id, skip_reconfirmation, avatar, provider, extern_uid, ...changes },
    }) => {
      const given = identityIn({ provider, extern_uid });
      const received = await receiveAvatar({ db, blobs }, avatar);
      await repeated(db, async (tx) => {
        await changeUser(tx, id, changes, skip_reconfirmation ? 'confirmed' : 'unknown');
        if (given) await setIdentity(tx, id, given);
        await setAvatar(tx, 'users', id, received);
      });
      return presentUserForAdmin(url, await userInFull(db, caller, id));
    },
  }),
  del('/users/:id/identities/:provider', {
    operation: 'deleteUserIdentity',
    summary: "Remove a user's identity at a provider",
    access: admin,
    input: { id: Id, provider: Type.String() },
    returns: nothing,
    refusals: { 404: ['404 User Not Found', '404 Identity Not Found'] },
    handle: ({ db, input }) => removeIdentity(db, input.id, input.provider),
  }),
  put('/user/avatar', {
    operation: 'setOwnAvatar',
    summary: "Set the current user's avatar; null removes it",
    access: signedIn,
    input: { avatar: Avatar() },
    rules: [atLeastOneOf('avatar')],
    returns: one(AvatarUrl),
    refusals: { 400: avatarTexts },
    handle: async ({ db, url, blobs, caller, input }) => {
      const received = await receiveAvatar({ db, blobs }, input.avatar);
      await db.transaction().execute((tx) => setAvatar(tx, 'users', caller.id, received));
      return { avatar_url: presentUserBasic(url, await basicUser(db, caller.id)).avatar_url };
    },
  }),
  del('/user/avatar', {
    operation: 'deleteOwnAvatar',
    summary: "Remove the current user's avatar",
    access: signedIn,
    returns: nothing,
    handle: ({ db, caller }) =>
      db.transaction().execute((tx) => setAvatar(tx, 'users', caller.id, { avatar: null, avatar_key: null })),
  }),
  get('/avatar', {
    operation: 'getAvatarOfEmail',
    summary: 'Show the avatar of the user with a public email address',
    access: anyone,
    input: { email: Type.String(), size: optional(Type.Integer({ minimum: 1, description: 'Ignored' })) },
    returns: one(AvatarUrl),
    handle: async ({ db, url, input }) => {
      const user = await db
        .selectFrom('users')
        .select(userBasicColumns)
        .where('id', '=', (q) =>
          q
            .selectFrom('emails')
            .select('user_id')
            .where('email', '=', input.email)
            .where('confirmed_at', 'is not', null),
        )
        .where('public_email', '=', input.email)
        .executeTakeFirst();
      return { avatar_url: user ? presentUserBasic(url, user).avatar_url : null };
    },
  }),
];
