/** How protected environments leave and arrive (docs/reference/relations_export.md#protected_environments). */
import { sql } from 'kysely';
import {
  account,
  column,
  columnOr,
  completeGrants,
  integer,
  parts,
  type RecordKind,
  type Relation,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import type { ProtectionRule } from './rules.ts';

const levels = [30, 40, 60];

/** Who may deploy, or whose approvals are needed. */
const ruleFor = (purpose: ProtectionRule['purpose']): RecordKind => ({
  table: 'protected_environment_rules',
  only: sql`protected_environment_rules.purpose = ${sql.lit(purpose)}`,
  members: {
    access_level: column('access_level', integer(0, 60)),
    user_id: account('user_id'),
    group_id: shown(sql`protected_environment_rules.group_id`),
    group_inheritance_type: columnOr('group_inheritance_type', integer(0, 1), 0),
    required_approvals: columnOr('required_approvals', integer(1, 5), 1),
    created_at: shown(sql`null`),
    updated_at: shown(sql`null`),
  },
  always: { purpose },
  stays: {},
  distinct: ['access_level', 'user_id', 'group_id'],
  derives: {
    columns: { group_id: 'bigint' },
    derive: (rows, arrival, tx) => completeGrants(rows, arrival, tx, levels),
  },
});

const protectedEnvironment: RecordKind = {
  table: 'protected_environments',
  owner: { project: 'project_id', group: 'group_id' },
  title: 'name',
  members: {
    name: required(
      'name',
      text((name) => (name.trim() === '' ? ["can't be blank"] : tooLong(name, 255))),
    ),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
    deploy_access_levels: parts(ruleFor('deploy'), 'protected_environment_id'),
    approval_rules: parts(ruleFor('approve'), 'protected_environment_id'),
  },
  stays: {},
  distinct: ['name'],
};

/** The protected environments of a project, or the protected tiers of a group. */
export const protectedEnvironments: Relation = { name: 'protected_environments', kind: protectedEnvironment };
