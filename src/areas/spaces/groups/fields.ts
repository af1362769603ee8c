/** The fields of groups: all members of replies that are not the same for all groups, in their order, and their settings (docs/reference/groups.md, docs/adding_a_field.md). */
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import type { Field } from '../../../fields/index.ts';
import { rangeReasons } from '../../../foundation/address_ranges.ts';
import {
  checked,
  DateOnly,
  deprecated,
  Id,
  nullable,
  optional,
  since,
  Timestamp,
  Visibility,
} from '../../../http/index.ts';
import { choice, column, columnOr, flag, integer, Refusal, text, type Value } from '../../../relations/index.ts';
import { ProtectionDefaults } from '../../code/protected_branches/index.ts';
import { artifactsSize, expirationField, FeatureLevel, flagField } from '../projects/fields.ts';
import { statisticsFields } from '../projects/present.ts';

const protectionDefaults: Value = {
  type: 'jsonb',
  arrives: (value) => {
    if (!Check(ProtectionDefaults, value)) throw new Refusal('is invalid');
    return value;
  },
};

const Level = Type.Object({ access_level: Type.Integer() });
const ProjectCreationLevel = Type.Enum(['noone', 'owner', 'maintainer', 'developer', 'administrator']);
const SubgroupCreationLevel = Type.Enum(['owner', 'maintainer']);

const sharedRunners = ['enabled', 'disabled_and_overridable', 'disabled_and_unoverridable'] as const;
const SharedRunners = () =>
  Type.Enum([...sharedRunners], {
    description:
      'Whether runners of the instance may take jobs of the projects below, and whether a project may decide otherwise',
  });

/** The column holds four bytes. */
const largestPeriod = 2 ** 31 - 1;
const GraceHours = () =>
  Type.Integer({ minimum: 0, maximum: largestPeriod, description: 'In hours: how long members have to set it up' });

const Ranges = () =>
  Type.String({
    description:
      'Of top-level groups: addresses and CIDR ranges, separated by commas, from which alone the group can be reached',
  });

export const groupFields = {
  id: { column: 'kept', reply: Id },
  web_url: { reply: Type.String() },
  name: { column: 'kept', reply: Type.String(), relation: column('name', text()) },
  path: { column: 'kept', reply: Type.String(), relation: column('path', text()) },
  description: {
    column: 'given',
    input: Type.String(),
    reply: Type.String(),
    relation: column('description', text()),
  },
  visibility: { column: 'given', input: Visibility, reply: Visibility },
  share_with_group_lock: flagField('share_with_group_lock'),
  require_two_factor_authentication: flagField(
    'require_two_factor_authentication',
    'Whether members of the group and of its subgroups must have a second factor',
  ),
  two_factor_grace_period: {
    column: 'given',
    input: GraceHours(),
    reply: GraceHours(),
    relation: column('two_factor_grace_period', integer(0, largestPeriod)),
  },
  project_creation_level: {
    column: 'given',
    input: ProjectCreationLevel,
    reply: ProjectCreationLevel,
    relation: column('project_creation_level', text()),
  },
  subgroup_creation_level: {
    column: 'given',
    input: SubgroupCreationLevel,
    reply: SubgroupCreationLevel,
    relation: column('subgroup_creation_level', text()),
  },
  emails_disabled: {
    input: deprecated('use `emails_enabled`, which takes precedence', Type.Boolean()),
    reply: deprecated('use `emails_enabled`, which is its opposite', Type.Boolean()),
  },
  emails_enabled: flagField('emails_enabled'),
  mentions_disabled: {
    column: 'given',
    input: nullable(Type.Boolean()),
    reply: nullable(Type.Boolean()),
    relation: column('mentions_disabled', flag),
  },
  lfs_enabled: flagField('lfs_enabled'),
  max_artifacts_size: artifactsSize,
  wiki_access_level: {
    column: 'given',
    input: since('premium', FeatureLevel()),
    reply: since('premium', FeatureLevel()),
    relation: column('wiki_access_level', text()),
  },
  archived: {
    column: 'kept',
    reply: Type.Boolean({ description: 'Whether the group or one of its ancestors is archived' }),
  },
  default_branch: {
    column: 'given',
    input: nullable(Type.String({ description: 'Default branch of new projects' })),
    reply: nullable(Type.String()),
    relation: column('default_branch', text()),
  },
  default_branch_protection: {
    column: 'given',
    input: Type.Enum([0, 1, 2, 3, 4]),
    reply: Type.Integer({
      description: 'Protection of new default branches, spelled out in `default_branch_protection_defaults`',
    }),
    relation: column('default_branch_protection', integer(0, 4)),
  },
  default_branch_protection_defaults: {
    column: 'given',
    input: ProtectionDefaults,
    reply: Type.Object({
      allowed_to_push: Type.Array(Level),
      allow_force_push: Type.Boolean(),
      allowed_to_merge: Type.Array(Level),
      code_owner_approval_required: optional(Type.Boolean({ description: 'If it was said' })),
      developer_can_initial_push: Type.Boolean(),
    }),
    relation: column('default_branch_protection_defaults', protectionDefaults),
  },
  shared_runners_setting: {
    column: 'given',
    input: SharedRunners(),
    reply: SharedRunners(),
    relation: columnOr('shared_runners_setting', choice(...sharedRunners), 'enabled'),
  },
  avatar_url: { reply: nullable(Type.String()) },
  request_access_enabled: flagField('request_access_enabled'),
  full_name: { reply: Type.String() },
  full_path: { column: 'kept', reply: Type.String() },
  created_at: { column: 'kept', reply: Timestamp },
  parent_id: { column: 'kept', reply: nullable(Id) },
  marked_for_deletion_on: { reply: nullable(DateOnly) },
  statistics: {
    reply: optional(
      Type.Object(statisticsFields, {
        description:
          'Administrators only, with `statistics=true`: what is stored in the group and in the projects directly in it',
      }),
    ),
  },
} satisfies Record<string, Field>;

/** Fields of single groups only. */
export const detailFields = {
  membership_lock: {
    column: 'given',
    input: since(
      'premium',
      Type.Boolean({ description: 'Whether to prevent adding members to projects in the group' }),
    ),
    reply: since('premium', Type.Boolean()),
    relation: column('membership_lock', flag),
  },
  ip_restriction_ranges: {
    column: 'given',
    input: since('premium', checked(nullable(Ranges()), rangeReasons)),
    reply: since('premium', nullable(Ranges())),
  },
  runner_token_expiration_interval: expirationField(
    'After how many seconds the tokens of runners of the group and of the projects below expire; null: as the groups above and the instance say',
  ),
  allow_runner_registration_token: flagField(
    'allow_runner_registration_token',
    'Whether runners of the group and of the projects below may register with a registration token',
  ),
} satisfies Record<string, Field>;
