/** The fields of users: who sees them in replies, in their order, and the parameters (docs/reference/users.md, docs/adding_a_field.md). */
import { Type } from 'typebox';
import type { Field } from '../../../fields/index.ts';
import { checked, DateOnly, Id, IdOf, nullable, resource, since, Timestamp } from '../../../http/index.ts';
import { atMost, countReasons, pageReasons } from './rules.ts';

type Fields = Record<string, Field>;

/** The fields of users as authors, assignees and members. */
export const userBasicFields = {
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

const textField = (limit: number) =>
  ({ column: 'given', input: checked(Type.String(), atMost(limit)), reply: Type.String() }) as const;
const clearableField = (limit: number) =>
  ({
    column: 'given',
    input: checked(nullable(Type.String()), (value) => (value === null ? [] : atMost(limit)(value))),
    reply: nullable(Type.String()),
  }) as const;
const countField = () =>
  ({ column: 'given', input: checked(Type.Integer(), countReasons), reply: Type.Integer() }) as const;
const flagField = () => ({ column: 'given', input: Type.Boolean(), reply: Type.Boolean() }) as const;
const moment = { column: 'kept', reply: nullable(Timestamp) } as const;
const address = { column: 'kept', reply: nullable(Type.String()) } as const;

/** The fields of a profile that is not private. */
export const profileFields = {
  created_at: { column: 'kept', reply: Timestamp },
  bio: textField(255),
  location: textField(500),
  linkedin: textField(500),
  twitter: textField(500),
  discord: textField(500),
  github: textField(500),
  website_url: {
    column: 'given',
    input: checked(Type.String({ description: 'URL of a web page, http or https' }), pageReasons),
    reply: Type.String(),
  },
  organization: textField(500),
  job_title: textField(200),
  pronouns: clearableField(50),
  bot: { reply: Type.Boolean() },
  work_information: { reply: nullable(Type.String()) },
  followers: { reply: Type.Integer() },
  following: { reply: Type.Integer() },
  is_followed: { reply: Type.Boolean({ description: 'Whether the caller follows the user' }) },
  local_time: { reply: Type.Null({ description: 'Always null: users have no time zone' }) },
} satisfies Fields;

export const Identity = Type.Object({
  provider: Type.String(),
  extern_uid: Type.String(),
  saml_provider_id: Type.Null(),
});

const noRunners = () => Type.Null({ description: 'Always null: minutes of runners are not counted' });

/** The fields that users see of themselves. */
export const ownFields = {
  confirmed_at: moment,
  last_sign_in_at: moment,
  current_sign_in_at: moment,
  last_activity_on: { column: 'kept', reply: nullable(DateOnly) },
  theme_id: countField(),
  color_scheme_id: countField(),
  projects_limit: countField(),
  email: { column: 'kept', reply: Type.String() },
  commit_email: {
    input: nullable(Type.String({ description: 'A confirmed email address of the user, or `_private`' })),
    reply: Type.String(),
  },
  identities: { reply: Type.Array(Identity, { description: 'Accounts of the user at external providers' }) },
  two_factor_enabled: { reply: Type.Boolean({ description: 'Whether the user has a second factor' }) },
  preferred_language: { reply: Type.String({ description: 'Always `en`' }) },
  can_create_group: flagField(),
  can_create_project: { reply: Type.Boolean() },
  external: flagField(),
  private_profile: flagField(),
  shared_runners_minutes_limit: { reply: since('premium', noRunners()) },
  extra_shared_runners_minutes_limit: { reply: since('premium', noRunners()) },
} satisfies Fields;

/** The fields that only administrators see. */
export const adminFields = {
  admin: { column: 'kept', input: Type.Boolean() },
  is_admin: { reply: Type.Boolean() },
  note: clearableField(65_535),
  namespace_id: { reply: nullable(Id) },
  created_by: { reply: nullable(UserBasic) },
  current_sign_in_ip: address,
  last_sign_in_ip: address,
  email_reset_offered_at: { reply: Type.Null() },
  using_license_seat: { reply: since('premium', Type.Boolean()) },
  is_auditor: { reply: since('premium', Type.Boolean({ description: 'Always false: there are no auditors' })) },
  provisioned_by_group_id: {
    reply: since('premium', nullable(IdOf({ description: 'For service accounts of a group: the group' }))),
  },
  enterprise_group_id: { reply: since('premium', Type.Null()) },
  enterprise_group_associated_at: { reply: since('premium', Type.Null()) },
  scim_identities: { reply: since('premium', Type.Array(Type.Null())) },
} satisfies Fields;

/** The fields that only administrators see, of one user. */
export const detailFields = {
  plan: { reply: Type.String({ description: 'The plan of the current license, which is the same for all users' }) },
  trial: { reply: Type.Boolean({ description: 'Whether the current license is a trial' }) },
  sign_in_count: { column: 'kept', reply: Type.Integer() },
  highest_role: {
    reply: Type.Integer({ description: 'The highest access level of a membership; 0 without one' }),
  },
} satisfies Fields;

/** All fields besides the basic ones. */
export const userFields = {
  ...profileFields,
  public_email: { input: Type.String({ description: 'A confirmed email address of the user, or empty' }) },
  ...ownFields,
  ...adminFields,
  ...detailFields,
} satisfies Fields;
