/** How protections of branches appear in replies (docs/reference/protected_branches.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { levelDescription } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable, resource, since } from '../../../http/index.ts';
import type { Entry } from './rules.ts';

const AccessEntry = Type.Object({
  id: Id,
  access_level: nullable(Type.Integer({ description: 'Null for a user or a group' })),
  access_level_description: Type.String(),
  user_id: since('premium', nullable(Id)),
  group_id: since('premium', nullable(Id)),
  deploy_key_id: Type.Null({ description: 'Always null: there are no deploy keys' }),
});

export const ProtectedBranch = resource('ProtectedBranch', {
  id: Id,
  name: Type.String({ description: '`*` matches any characters' }),
  push_access_levels: Type.Array(AccessEntry),
  merge_access_levels: Type.Array(AccessEntry),
  unprotect_access_levels: since('premium', Type.Array(AccessEntry)),
  allow_force_push: Type.Boolean(),
  inherited: Type.Boolean({
    description: 'Whether it is that of the group of the project, and cannot be changed here',
  }),
  code_owner_approval_required: since('premium', Type.Boolean()),
});

/** An entry with the name of its user or group. */
type NamedEntry = Entry & { id: number; name: string | null };

const named = sql<NamedEntry[]>`
  coalesce((
    select json_agg(json_build_object(
             'id', entry.id, 'action', entry.action, 'access_level', entry.access_level, 'user_id', entry.user_id, 'group_id', entry.group_id,
             'name', coalesce(users.name, namespaces.name)) order by entry.id)
      from protected_branch_access_levels entry
           left join users on users.id = entry.user_id
           left join namespaces on namespaces.id = entry.group_id
     where entry.protected_branch_id = protected_branches.id), '[]'::json)`;

/** Protections, in the form for `presentProtection`. */
export const protectedBranchRows = (db: Database, which: RawBuilder<boolean>) =>
  db
    .selectFrom('protected_branches')
    .select([
      'protected_branches.id',
      'protected_branches.name',
      'allow_force_push',
      'code_owner_approval_required',
      'group_id',
      named.as('entries'),
    ])
    .where(which);

/** @param place where it is shown: in a project, group protections are marked as inherited */
export function presentProtection(
  {
    entries,
    group_id,
    ...row
  }: {
    group_id: number | null;
    id: number;
    name: string;
    allow_force_push: boolean;
    code_owner_approval_required: boolean;
    entries: NamedEntry[];
  },
  place: 'project' | 'group',
): Static<typeof ProtectedBranch> {
  const levelsOf = (action: Entry['action']) =>
    entries
      .filter((entry) => entry.action === action)
      .map(({ id, access_level, user_id, group_id, name }) => ({
        id,
        access_level,
        access_level_description: access_level === null ? (name ?? '') : levelDescription(access_level),
        user_id,
        group_id,
        deploy_key_id: null,
      }));
  return {
    ...row,
    inherited: place === 'project' && group_id !== null,
    push_access_levels: levelsOf('push'),
    merge_access_levels: levelsOf('merge'),
    unprotect_access_levels: levelsOf('unprotect'),
  };
}
