/** How protections of environments appear in replies (docs/reference/protected_environments.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { levelDescription } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable, resource } from '../../../http/index.ts';
import type { Grantee } from './rules.ts';

const granteeFields = {
  id: Id,
  access_level: nullable(Type.Integer({ description: 'Null for a user or a group' })),
  access_level_description: Type.String(),
  user_id: nullable(Id),
  group_id: nullable(Id),
  group_inheritance_type: Type.Integer({ description: '0: direct members of the group; 1: inherited ones, too' }),
};

export const ProtectedEnvironment = resource('ProtectedEnvironment', {
  name: Type.String(),
  deploy_access_levels: Type.Array(Type.Object(granteeFields)),
  required_approval_count: Type.Integer({ description: 'Always 0: `approval_rules` say how many are required' }),
  approval_rules: Type.Array(Type.Object({ ...granteeFields, required_approvals: Type.Integer() })),
});

/** The description of a rule's grantee. */
export const describedGrantee = ({ access_level, name }: Pick<Grantee, 'access_level'> & { name: string | null }) =>
  access_level === null ? (name ?? '') : levelDescription(access_level);

interface RuleRow extends Grantee {
  id: number;
  purpose: 'deploy' | 'approve';
  group_inheritance_type: number;
  required_approvals: number;
  name: string | null;
}

/** The rules of each row of `protected_environments`. */
const rules: RawBuilder<RuleRow[]> = sql`
  coalesce((
    select json_agg(json_build_object(
             'id', rule.id, 'purpose', rule.purpose, 'access_level', rule.access_level, 'user_id', rule.user_id, 'group_id', rule.group_id,
             'group_inheritance_type', rule.group_inheritance_type, 'required_approvals', rule.required_approvals,
             'name', coalesce(users.name, namespaces.name)) order by rule.id)
      from protected_environment_rules rule left join users on users.id = rule.user_id left join namespaces on namespaces.id = rule.group_id
     where rule.protected_environment_id = protected_environments.id), '[]'::json)`;

/** The owner of a protection: a project or a group. */
export type ProtectionOwner = { project_id: number } | { group_id: number };

/** A predicate on rows of `protected_environments`. */
export const isOf = (owner: ProtectionOwner): RawBuilder<boolean> =>
  'project_id' in owner
    ? sql`protected_environments.project_id = ${owner.project_id}`
    : sql`protected_environments.group_id = ${owner.group_id}`;

/** The protections of a project or group, as input for `presentProtection`. */
export const protectionRows = (db: Database, owner: ProtectionOwner) =>
  db
    .selectFrom('protected_environments')
    .select(['protected_environments.name', rules.as('rules')])
    .where(isOf(owner));

export function presentProtection(row: { name: string; rules: RuleRow[] }): Static<typeof ProtectedEnvironment> {
  const shown = ({ id, access_level, user_id, group_id, group_inheritance_type, name }: RuleRow) => ({
    id,
    access_level,
    access_level_description: describedGrantee({ access_level, name }),
    user_id,
    group_id,
    group_inheritance_type,
  });
  const of = (purpose: RuleRow['purpose']) => row.rules.filter((rule) => rule.purpose === purpose);
  return {
    name: row.name,
    deploy_access_levels: of('deploy').map(shown),
    required_approval_count: 0,
    approval_rules: of('approve').map((rule) => ({ ...shown(rule), required_approvals: rule.required_approvals })),
  };
}
