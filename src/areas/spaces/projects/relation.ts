/**
 * How a project itself is exported: its settings become those of a new project
 * (docs/reference/relations_export.md#self).
 */

import { sql } from 'kysely';
import { membersOf } from '../../../fields/index.ts';
import {
  coded,
  column,
  flag,
  type Members,
  type RecordKind,
  type Relation,
  shown,
  text,
} from '../../../relations/index.ts';
import { levelFields, mergeFields, projectFields } from './fields.ts';

/** Features that other servers have. */
const others = [
  'pages',
  'metrics_dashboard',
  'analytics',
  'operations',
  'container_registry',
  'security_and_compliance',

  'requirements',
  'package_registry',
  'infrastructure',
  'monitor',
  'model_experiments',
  'model_registry',
];

const accessLevels: Members = {
  ...membersOf(levelFields),
  ...Object.fromEntries(others.map((name) => [`${name}_access_level`, shown(sql`0`)])),
};

const flags = [
  'archived',
  'reset_approvals_on_push',
  'disable_overriding_approvers_per_merge_request',
  'merge_requests_author_approval',
  'merge_requests_disable_committers_approval',
  'require_password_to_approve',
  'selective_code_owner_removals',
];

const words = ['name', 'path', 'default_branch'];

const usage = (name: string) => sql`
  coalesce((select last_value from internal_ids where project_id = projects.id and usage = ${sql.lit(name)}), 0)`;

const members: Members = {
  ...membersOf(projectFields),
  ...membersOf(mergeFields),
  ...Object.fromEntries(words.map((name) => [name, column(name, text())])),
  ...Object.fromEntries(flags.map((name) => [name, column(name, flag)])),
  visibility_level: column('visibility', coded('text', { private: 0, internal: 10, public: 20 })),
  object_format: column('repository_object_format', text()),
  merge_requests_ff_only_enabled: shown(sql`projects.merge_method = 'ff'`),
  merge_requests_rebase_enabled: shown(sql`projects.merge_method <> 'merge'`),
  max_iids: shown(sql`json_build_object(
    'issues', ${usage('issues')}, 'merge_requests', ${usage('merge_requests')}, 'milestones', ${usage('milestones')},
    'deployments', ${usage('deployments')}, 'feature_flags', ${usage('feature_flags')}, 'feature_flag_user_lists', ${usage('feature_flag_user_lists')})`),
  ...accessLevels,
};

/** A project as the relation `self`. */
export const projectSelf: RecordKind = {
  table: 'projects',
  owner: { project: 'id' },
  members,
  stays: {
    namespace_id: 'the place at the destination',
    full_path: 'the place at the destination',
    creator_id: 'the importer',
    storage: 'a place of this server',
    max_artifacts_size: 'a limit of this server',
    empty_repo: 'found out again',
    refs_recorded: 'found out again',
    readme_path: 'found out again',
    star_count: 'stars stay behind',
    last_activity_at: 'activity here',
    created_at: 'given by the project itself',
    updated_at: 'given by the project itself',
    marked_for_deletion_at: 'a mark of this server',
    forked_from_id: 'importers ask the API for it',
    import_status: 'the state of an import here',
    import_error: 'the state of an import here',
    avatar: 'an upload',
    avatar_key: 'an upload',
    runner_registration_version: 'the token is of this server',
  },
};

/** The access level of each feature of a project. */
export const projectFeatures: Relation = {
  name: 'project_feature',
  kind: { table: 'projects', owner: { project: 'id' }, members: accessLevels, stays: {} },
};
