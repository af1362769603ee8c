/** How protected environments leave and arrive (docs/reference/relations_export.md#protected_environments). */
import {
  columnOr,
  grantsOf,
  integer,
  parts,
  type RecordKind,
  type Relation,
  required,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import type { ProtectionRule } from './rules.ts';

/** Rules for deploying or for approvals. */
const ruleFor = (purpose: ProtectionRule['purpose']): RecordKind =>
  grantsOf({
    table: 'protected_environment_rules',
    right: ['purpose', purpose],
    levels: [30, 40, 60],
    more: {
      group_inheritance_type: columnOr('group_inheritance_type', integer(0, 1), 0),
      required_approvals: columnOr('required_approvals', integer(1, 5), 1),
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
