/**
 * Rules about readers of projects in SQL, each written once for two forms: which rows a caller may read, and which users may read a row. The form for one project in memory is written
 * beside each rule, and a test compares the three (docs/decisions/0145-rules-in-sql-are-written-once.md).
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { countsToday } from './expiry.ts';
import type { Reading } from './instance.ts';
import { levels } from './levels.ts';
import { type Permission, rolesCount } from './permissions.ts';
import { type Feature, isMemberOfProject, isVisibleProject, projectPermissions } from './projects.ts';
import { isKnownProject, isShown, isUserOfProject } from './readers.ts';

type Predicate = RawBuilder<SqlBool>;

/** A reader in predicates on rows of `projects`: a caller, or the user of a row of `users`. Administrators are handled before. */
export interface ProjectReader {
  /** Undefined for anonymous callers. */
  id: RawBuilder<unknown> | undefined;
  isMember(level: number): Predicate;
  /** Whether a custom role gives the permission. */
  isPermitted(permission: Permission): Predicate;
  /** Whether the project is visible to the reader. */
  knowsProject: Predicate;
  /** Whether the visibility of a row shows it to the reader. */
  isShown(table: 'snippets'): Predicate;
}

/** A caller as a reader. */
export const callerAsReader = (caller: Reading): ProjectReader => ({
  id: caller && sql`${caller.id}`,
  isMember: (level) => isMemberOfProject(caller, level),
  isPermitted: (permission) => sql`${sql.lit(permission)} = any(${projectPermissions(caller)})`,
  knowsProject: isVisibleProject(caller),
  isShown: (table) =>
    sql`${sql.ref(`${table}.visibility`)} ${caller && !caller.external ? sql`<> 'private'` : sql`= 'public'`}`,
});

/** The user of a row of `users` as a reader. */
export const userAsReader: ProjectReader = {
  id: sql`users.id`,
  isMember: isUserOfProject,
  isPermitted: (permission) => sql`(${rolesCount} and exists (
    select from project_authorizations join member_roles on member_roles.id = member_role_id
     where user_id = users.id and project_id = projects.id and ${sql.lit(permission)} = any(member_roles.permissions) and ${countsToday()}))`,
  knowsProject: isKnownProject,
  isShown,
};

/** A feature is available to a reader who can see the project, as `mayUse` decides for one. */
export function usesFeature({ isMember }: ProjectReader, feature: Feature): Predicate {
  const setting = sql.ref(`projects.${feature}_access_level`);
  return sql`(${setting} = 'enabled' or (${setting} = 'private' and ${isMember(levels.guest)}))`;
}

/** A predicate on visible rows of `projects`: a feature is available to the caller. */
export const isUsable = (caller: Reading, feature: Feature): Predicate =>
  caller?.admin
    ? sql`${sql.ref(`projects.${feature}_access_level`)} <> 'disabled'`
    : usesFeature(callerAsReader(caller), feature);

/** Both forms of a rule. */
export interface ReadRule {
  /** A predicate on the rows that the rule is about, joined with `projects`: the caller may read them. */
  isVisible(caller: Reading): Predicate;
  /** A predicate on rows of `users` besides: the user may read them. */
  isRead: Predicate;
}

/**
 * A rule in both forms.
 * @param isOn what administrators read: the feature is not disabled
 * @param reads what everyone else reads
 */
export const readRule = (isOn: Predicate, reads: (reader: ProjectReader) => Predicate): ReadRule => ({
  isVisible: (caller) => (caller?.admin ? isOn : reads(callerAsReader(caller))),
  isRead: sql`case when users.admin then ${isOn} else ${reads(userAsReader)} end`,
});
