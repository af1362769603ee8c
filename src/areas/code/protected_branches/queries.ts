/** Queries for the branch protections of a project. */
import { type RawBuilder, sql } from 'kysely';
import {
  countsToday,
  isGroupOfGroup,
  isGroupOfProject,
  levels,
  type Project,
  planInForce,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type BranchProtection,
  type DefaultProtection,
  defaultProtection,
  type KnownEntry,
  type ProtectionRule,
  protectionBy,
} from './rules.ts';

type Known = { id: number; admin: boolean } | undefined;

/** The entries of each row of `protected_branches`. Each has a flag whether the caller is a member of its group, if the group has a relation to the project or group. */
const entriesFor = (caller: Known) => sql<KnownEntry[]>`
  coalesce((
    select json_agg(json_build_object(
             'action', entry.action, 'access_level', entry.access_level, 'user_id', entry.user_id, 'group_id', entry.group_id,
             'is_member', exists (select from group_authorizations
                                   where user_id = ${caller?.id ?? null}::bigint and group_id = entry.group_id and access_level >= ${levels.guest}
                                     and ${countsToday()})
                          and (${isGroupOfProject(sql`entry.group_id`, sql`protected_branches.project_id`)}
                               or ${isGroupOfGroup(sql`entry.group_id`, sql`protected_branches.group_id`)})))
      from protected_branch_access_levels entry where entry.protected_branch_id = protected_branches.id), '[]'::json)`;

/** The owner of a protection. */
export type ProtectionOwner = { project_id: number } | { group_id: number };

/** A predicate on rows of `protected_branches`: the owner's own protections. */
export const ownedBy = (owner: ProtectionOwner): RawBuilder<boolean> =>
  'project_id' in owner
    ? sql`protected_branches.project_id = ${owner.project_id}`
    : sql`protected_branches.group_id = ${owner.group_id}`;

/** A predicate on rows of `protected_branches`: they apply to a project, because they are its own or, with Premium, belong to its top-level group. */
export const protectsProject = (project_id: RawBuilder<unknown>): RawBuilder<boolean> => sql`
  (protected_branches.project_id = ${project_id}
   or ${planInForce} <> 'free' and protected_branches.group_id = (
     select place.traversal_ids[1] from projects protected join namespaces place on place.id = protected.namespace_id where protected.id = ${project_id}))`;

/** The protections of a project. */
export const rulesOf = (db: Database, project_id: number, caller: Known): Promise<ProtectionRule[]> =>
  db
    .selectFrom('protected_branches')
    .select(['name', 'group_id', 'allow_force_push', entriesFor(caller).as('entries')])
    .where(protectsProject(sql`${project_id}::bigint`))
    .execute();

/** A protection as input for the rules, undefined if there is none of this name. */
export const ruleNamed = (db: Database, owner: ProtectionOwner, caller: Known, name: string) =>
  db
    .selectFrom('protected_branches')
    .select(['id', 'name', 'group_id', 'allow_force_push', entriesFor(caller).as('entries')])
    .where(ownedBy(owner))
    .where('name', '=', name)
    .executeTakeFirst();

/** The protection defaults for the default branch of a new project: from its group or, in a user namespace, from the server settings. */
export async function defaultProtectionOf(db: Database, project_id: number): Promise<DefaultProtection> {
  const { level, own } = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(
      sql<number>`case when namespaces.kind = 'group' then namespaces.default_branch_protection
                       else (select default_branch_protection from application_settings) end`.as('level'),
    )
    .select(sql<Partial<DefaultProtection> | null>`namespaces.default_branch_protection_defaults`.as('own'))
    .where('projects.id', '=', project_id)
    .executeTakeFirstOrThrow();
  return defaultProtection(level, own);
}

/**
 * The protection of each branch of a project, read once for all of them.
 * @param project with the caller's level in it
 * @returns a function that maps the name of a branch to its protection
 */
export async function protectionFor(
  db: Database,
  project: Pick<Project, 'id' | 'access_level' | 'empty_repo'>,
  caller: Known,
): Promise<(branch: string) => BranchProtection> {
  const [rules, first] = await Promise.all([
    rulesOf(db, project.id, caller),
    project.empty_repo ? defaultProtectionOf(db, project.id) : undefined,
  ]);
  return protectionBy(rules, { caller, access_level: project.access_level }, first);
}
