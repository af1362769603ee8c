/** How users appear in responses (docs/reference/users.md#forms). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { commitEmailOf, userPage } from '../../../access/index.ts';
import { allOptional, DateOnly, Id, IdOf, nullable, resource, since, Timestamp } from '../../../http/index.ts';
import { avatarUrl } from '../avatars/rules.ts';
import { attributeMember } from '../custom_attributes/queries.ts';

/** The fields of users as authors, assignees and members. */
const userBasicFields = {
  id: Id,
  username: Type.String(),
  name: Type.String(),
  state: Type.String(),
  locked: Type.Boolean(),
  public_email: nullable(Type.String()),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
};
export const UserBasic = resource('UserBasic', userBasicFields);

/** The fields of a profile that is not private. */
const profileFields = {
  created_at: Timestamp,
  bio: Type.String(),
  location: Type.String(),
  linkedin: Type.String(),
  twitter: Type.String(),
  discord: Type.String(),
  github: Type.String(),
  website_url: Type.String(),
  organization: Type.String(),
  job_title: Type.String(),
  pronouns: nullable(Type.String()),
  bot: Type.Boolean(),
  work_information: nullable(Type.String()),
  followers: Type.Integer(),
  following: Type.Integer(),
  is_followed: Type.Boolean({ description: 'Whether the caller follows the user' }),
  local_time: Type.Null({ description: 'Always null: users have no time zone' }),
};

const Identity = Type.Object({
  provider: Type.String(),
  extern_uid: Type.String(),
  saml_provider_id: Type.Null(),
});

const noRunners = () => Type.Null({ description: 'Always null: there are no runners' });

/** The fields that users see of themselves. */
const ownFields = {
  confirmed_at: nullable(Timestamp),
  last_sign_in_at: nullable(Timestamp),
  current_sign_in_at: nullable(Timestamp),
  last_activity_on: nullable(DateOnly),
  theme_id: Type.Integer(),
  color_scheme_id: Type.Integer(),
  projects_limit: Type.Integer(),
  email: Type.String(),
  commit_email: Type.String(),
  identities: Type.Array(Identity, { description: 'Accounts of the user at external providers' }),
  two_factor_enabled: Type.Boolean({ description: 'Always false: there is no second factor' }),
  preferred_language: Type.String({ description: 'Always `en`' }),
  can_create_group: Type.Boolean(),
  can_create_project: Type.Boolean(),
  external: Type.Boolean(),
  private_profile: Type.Boolean(),
  shared_runners_minutes_limit: since('premium', noRunners()),
  extra_shared_runners_minutes_limit: since('premium', noRunners()),
};

/** The fields that only administrators see. */
const adminFields = {
  is_admin: Type.Boolean(),
  note: nullable(Type.String()),
  namespace_id: nullable(Id),
  created_by: nullable(UserBasic),
  current_sign_in_ip: nullable(Type.String()),
  last_sign_in_ip: nullable(Type.String()),
  email_reset_offered_at: Type.Null(),
  using_license_seat: since('premium', Type.Boolean()),
  is_auditor: since('premium', Type.Boolean({ description: 'Always false: there are no auditors' })),
  provisioned_by_group_id: since(
    'premium',
    nullable(IdOf({ description: 'For service accounts of a group: the group' })),
  ),
  enterprise_group_id: since('premium', Type.Null()),
  enterprise_group_associated_at: since('premium', Type.Null()),
  scim_identities: since('premium', Type.Array(Type.Null())),
};

/** The fields that only administrators see, of one user. */
const detailFields = {
  plan: Type.String({ description: 'The plan of the current license, which is the same for all users' }),
  trial: Type.Boolean({ description: 'Whether the current license is a trial' }),
  sign_in_count: Type.Integer(),
  highest_role: Type.Integer({ description: 'The highest access level of a membership; 0 without one' }),
};

/** A user as visible to the caller. Only the basic fields are always present. */
export const User = resource('User', {
  ...userBasicFields,
  ...allOptional(profileFields),
  ...allOptional(ownFields),
  ...allOptional(adminFields),
  ...allOptional(detailFields),
  ...attributeMember,
});

/** The current user. Administrators also see their own administrative fields. */
export const CurrentUser = resource('CurrentUser', {
  ...userBasicFields,
  ...profileFields,
  ...ownFields,
  ...allOptional(adminFields),
});

export const UserForAdmin = resource('UserForAdmin', {
  ...userBasicFields,
  ...profileFields,
  ...ownFields,
  ...adminFields,
});

export const userBasicColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.state',
  'users.public_email',
  'users.avatar',
] as const;

/**
 * A row of `users` as one JSON value, for statements that combine users with other rows.
 * @param table the alias of `users` in the statement
 */
export const userBasicJson = (table: string): RawBuilder<UserBasicRow> => sql`
  jsonb_build_object('id', ${sql.ref(`${table}.id`)}, 'username', ${sql.ref(`${table}.username`)}, 'name', ${sql.ref(`${table}.name`)},
                     'state', ${sql.ref(`${table}.state`)}, 'public_email', ${sql.ref(`${table}.public_email`)},
                     'avatar', ${sql.ref(`${table}.avatar`)})`;

export interface UserBasicRow {
  id: number;
  username: string;
  name: string;
  state: string;
  public_email: string;
  /** The file name of the avatar. */
  avatar: string | null;
}

/** A row of `usersInFull`. */
export interface UserRow extends UserBasicRow {
  user_type: string;
  created_at: string;
  bio: string;
  location: string;
  linkedin: string;
  twitter: string;
  discord: string;
  github: string;
  website_url: string;
  organization: string;
  job_title: string;
  pronouns: string | null;
  confirmed_at: string | null;
  last_activity_on: string | null;
  theme_id: number;
  color_scheme_id: number;
  projects_limit: number;
  email: string;
  commit_email: string | null;
  has_proved_email: boolean;
  can_create_group: boolean;
  external: boolean;
  private_profile: boolean;
  admin: boolean;
  note: string | null;
  namespace_id: number | null;
  personal_projects: number;
  using_license_seat: boolean;
  followers: number;
  following: number;
  is_followed: boolean;
  identities: Static<typeof Identity>[];
  plan: string;
  trial: boolean;
  sign_in_count: number;
  current_sign_in_at: string | null;
  last_sign_in_at: string | null;
  current_sign_in_ip: string | null;
  last_sign_in_ip: string | null;
  highest_role: number;
  provisioned_by_group_id: number | null;
  created_by: UserBasicRow | null;
}

/**
 * @param url the external address of the server
 * @param user the columns of `userBasicColumns`
 */
export const presentUserBasic = (
  url: string,
  { id, username, name, state, public_email, avatar }: UserBasicRow,
): Static<typeof UserBasic> => ({
  id,
  username,
  name,
  state,
  locked: false,
  public_email,
  avatar_url: avatarUrl(url, 'user', { id, avatar }),
  web_url: url + userPage(username),
});

/** `Engineer at Example`, or the part that is known. */
function workInformation({ job_title, organization }: UserRow): string | null {
  if (job_title !== '' && organization !== '') return `${job_title} at ${organization}`;
  return job_title || organization || null;
}

const isPerson = (user: UserRow) => user.user_type === 'human';

/** A profile as others see it when it is not private. */
export function presentProfile(url: string, user: UserRow) {
  const {
    created_at,
    bio,
    location,
    linkedin,
    twitter,
    discord,
    github,
    website_url,
    organization,
    job_title,
    pronouns,
  } = user;
  return {
    ...presentUserBasic(url, user),
    created_at,
    bio,
    location,
    linkedin,
    twitter,
    discord,
    github,
    website_url,
    organization,
    job_title,
    pronouns,
    bot: !isPerson(user),
    work_information: workInformation(user),
    followers: user.followers,
    following: user.following,
    is_followed: user.is_followed,
    local_time: null,
  };
}

/** A user as they see themselves. */
export function presentOwnUser(url: string, user: UserRow): Omit<Static<typeof CurrentUser>, keyof typeof adminFields> {
  const { confirmed_at, last_activity_on, theme_id, color_scheme_id, projects_limit } = user;
  const { email, can_create_group, external, private_profile, identities, last_sign_in_at, current_sign_in_at } = user;
  return {
    ...presentProfile(url, user),
    confirmed_at,
    last_activity_on,
    theme_id,
    color_scheme_id,
    projects_limit,
    email,
    can_create_group,
    external,
    private_profile,
    identities,
    last_sign_in_at,
    current_sign_in_at,
    two_factor_enabled: false,
    preferred_language: 'en',
    shared_runners_minutes_limit: null,
    extra_shared_runners_minutes_limit: null,
    commit_email: commitEmailOf(user, url),
    can_create_project: user.personal_projects < projects_limit,
  };
}

/** A user as administrators see them. */
export function presentUserForAdmin(url: string, user: UserRow): Static<typeof UserForAdmin> {
  const { admin, note, namespace_id, created_by, current_sign_in_ip, last_sign_in_ip, provisioned_by_group_id } = user;
  return {
    ...presentOwnUser(url, user),
    is_admin: admin,
    note,
    namespace_id,
    created_by: created_by && presentUserBasic(url, created_by),
    using_license_seat: user.using_license_seat,
    current_sign_in_ip,
    last_sign_in_ip,
    provisioned_by_group_id,
    email_reset_offered_at: null,
    enterprise_group_id: null,
    enterprise_group_associated_at: null,
    is_auditor: false,
    scim_identities: [],
  };
}

/** One user as administrators see them. */
export const presentUserInDetail = (url: string, user: UserRow) => ({
  ...presentUserForAdmin(url, user),
  plan: user.plan,
  trial: user.trial,
  sign_in_count: user.sign_in_count,
  highest_role: user.highest_role,
});
