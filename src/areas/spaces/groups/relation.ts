/**
 * How a group itself is exported: its settings become those of a new group (docs/reference/relations_export.md#self).
 */

import { sql } from 'kysely';
import { membersOf } from '../../../fields/index.ts';
import { coded, column, type RecordKind, type Relation, shown } from '../../../relations/index.ts';
import { detailFields, groupFields } from './fields.ts';

const usage = (name: string) => sql`
  coalesce((select last_value from internal_ids where namespace_id = namespaces.id and usage = ${sql.lit(name)}), 0)`;

/** A group as the relation `self`. */
export const groupSelf: RecordKind = {
  table: 'namespaces',
  owner: { group: 'id' },
  members: {
    ...membersOf(groupFields),
    ...membersOf(detailFields),
    visibility_level: column('visibility', coded('text', { private: 0, internal: 10, public: 20 })),
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
    runner_registration_version: 'the token is of this server',
    max_artifacts_size: 'a limit of this server',
    ip_restriction_ranges: 'addresses of this network',
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
