/**
 * How a group itself is exported: its settings become those of a new group (docs/reference/relations_export.md#self).
 */
import { sql } from 'kysely';
import { Check } from 'typebox/value';
import {
  coded,
  column,
  flag,
  integer,
  type RecordKind,
  Refusal,
  type Relation,
  shown,
  text,
  type Value,
} from '../../../relations/index.ts';
import { ProtectionDefaults } from '../../code/protected_branches/index.ts';

const protectionDefaults: Value = {
  type: 'jsonb',
  arrives: (value) => {
    if (!Check(ProtectionDefaults, value)) throw new Refusal('is invalid');
    return value;
  },
};

const usage = (name: string) => sql`
  coalesce((select last_value from internal_ids where namespace_id = namespaces.id and usage = ${sql.lit(name)}), 0)`;

/** A group as the relation `self`. */
export const groupSelf: RecordKind = {
  table: 'namespaces',
  owner: { group: 'id' },
  members: {
    name: column('name', text()),
    path: column('path', text()),
    description: column('description', text()),
    visibility_level: column('visibility', coded('text', { private: 0, internal: 10, public: 20 })),
    share_with_group_lock: column('share_with_group_lock', flag),
    project_creation_level: column('project_creation_level', text()),
    subgroup_creation_level: column('subgroup_creation_level', text()),
    request_access_enabled: column('request_access_enabled', flag),
    lfs_enabled: column('lfs_enabled', flag),
    emails_enabled: column('emails_enabled', flag),
    mentions_disabled: column('mentions_disabled', flag),
    default_branch: column('default_branch', text()),
    default_branch_protection: column('default_branch_protection', integer(0, 4)),
    default_branch_protection_defaults: column('default_branch_protection_defaults', protectionDefaults),
    membership_lock: column('membership_lock', flag),
    wiki_access_level: column('wiki_access_level', text()),
    require_two_factor_authentication: shown(sql`false`),
    two_factor_grace_period: shown(sql`48`),
    max_iids: shown(sql`json_build_object(
      'epics', ${usage('epics')}, 'milestones', ${usage('milestones')}, 'iterations', ${usage('iterations')})`),
  },
  stays: {
    kind: 'only groups leave',
    full_path: 'the place at the destination',
    traversal_ids: 'the place at the destination',
    parent_id: 'the place at the destination',
    owner_id: 'only users have it',
    created_at: 'given by the group itself',
    updated_at: 'given by the group itself',
    archived: 'given by the group itself',
    marked_for_deletion_at: 'a mark of this server',
    avatar: 'an upload',
    avatar_key: 'an upload',
    repository_storage: 'a place of this server',
  },
};

/** Settings of other servers that groups here do not have. */
export const namespaceSettings: Relation = {
  name: 'namespace_settings',
  kind: {
    table: 'namespaces',
    owner: { group: 'id' },
    members: { prevent_sharing_groups_outside_hierarchy: shown(sql`false`) },
    stays: {},
  },
};
