/** How users appear in responses (docs/reference/users.md#forms). */
import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { commitEmailOf, userPage } from '../../../access/index.ts';
import { type RowOf, replyOf, shownOf } from '../../../fields/index.ts';
import { allOptional, resource } from '../../../http/index.ts';
import { avatarUrl } from '../avatars/rules.ts';
import { attributeMember } from '../custom_attributes/queries.ts';
import {
  adminFields,
  detailFields,
  type Identity,
  ownFields,
  profileFields,
  type UserBasic,
  userBasicFields,
  type userFields,
} from './fields.ts';

const [ofProfile, ofOwn, forAdmins, inDetail] = [
  shownOf(profileFields),
  shownOf(ownFields),
  shownOf(adminFields),
  shownOf(detailFields),
];
const [profileMembers, ownMembers, adminMembers] = [replyOf(profileFields), replyOf(ownFields), replyOf(adminFields)];

/** A user as visible to the caller. Only the basic fields are always present. */
export const User = resource('User', {
  ...userBasicFields,
  ...allOptional(profileMembers),
  ...allOptional(ownMembers),
  ...allOptional(adminMembers),
  ...allOptional(replyOf(detailFields)),
  ...attributeMember,
});

/** The current user. Administrators also see their own administrative fields. */
export const CurrentUser = resource('CurrentUser', {
  ...userBasicFields,
  ...profileMembers,
  ...ownMembers,
  ...allOptional(adminMembers),
});

export const UserForAdmin = resource('UserForAdmin', {
  ...userBasicFields,
  ...profileMembers,
  ...ownMembers,
  ...adminMembers,
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
export interface UserRow extends UserBasicRow, RowOf<typeof userFields, 'users'> {
  user_type: string;
  commit_email: string | null;
  has_proved_email: boolean;
  namespace_id: number | null;
  personal_projects: number;
  using_license_seat: boolean;
  followers: number;
  following: number;
  is_followed: boolean;
  two_factor_enabled: boolean;
  identities: Static<typeof Identity>[];
  plan: string;
  trial: boolean;
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
  return {
    ...presentUserBasic(url, user),
    ...ofProfile(user),
    bot: !isPerson(user),
    work_information: workInformation(user),
    followers: user.followers,
    following: user.following,
    is_followed: user.is_followed,
    local_time: null,
  };
}

/** A user as they see themselves. */
export function presentOwnUser(
  url: string,
  user: UserRow,
): Omit<Static<typeof CurrentUser>, keyof typeof adminMembers> {
  return {
    ...presentProfile(url, user),
    ...ofOwn(user),
    identities: user.identities,
    two_factor_enabled: user.two_factor_enabled,
    preferred_language: 'en',
    shared_runners_minutes_limit: null,
    extra_shared_runners_minutes_limit: null,
    commit_email: commitEmailOf(user, url),
    can_create_project: user.personal_projects < user.projects_limit,
  };
}

/** A user as administrators see them. */
export function presentUserForAdmin(url: string, user: UserRow): Static<typeof UserForAdmin> {
  const { created_by } = user;
  return {
    ...presentOwnUser(url, user),
    ...forAdmins(user),
    is_admin: user.admin,
    namespace_id: user.namespace_id,
    created_by: created_by && presentUserBasic(url, created_by),
    using_license_seat: user.using_license_seat,
    provisioned_by_group_id: user.provisioned_by_group_id,
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
  ...inDetail(user),
  plan: user.plan,
  trial: user.trial,
  highest_role: user.highest_role,
});
