/** The access levels, users and groups that rules of a project or group can name. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type DB, ofAnyLength } from '../db/index.ts';
import { countsToday } from './expiry.ts';

const descriptions: Readonly<Record<number, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Administrators',
};

/** The description of the level of an entry. */
export const levelDescription = (access_level: number): string => descriptions[access_level] ?? '';

/** Users and groups. */
interface Grantees {
  users: Set<number>;
  groups: Set<number>;
}

interface Asked {
  user_ids: readonly number[];
  group_ids: readonly number[];
}

interface Row {
  user_id: number | null;
  group_id: number | null;
}

const granteesIn = (rows: readonly Row[]): Grantees => ({
  users: new Set(rows.flatMap(({ user_id }) => user_id ?? [])),
  groups: new Set(rows.flatMap(({ group_id }) => group_id ?? [])),
});

/**
 * A predicate: rules of a project can name the group and apply to it, because it is above the project, or invited to it or to a group above it.
 * @param group its id, as SQL
 * @param project the id of the project, as SQL
 */
export const isGroupOfProject = (
  group: RawBuilder<unknown>,
  project: RawBuilder<unknown>,
): RawBuilder<boolean> => sql`exists (
  select from projects joined join namespaces place on place.id = joined.namespace_id
   where joined.id = ${project}
     and (${group} = any(place.traversal_ids)
          or exists (select from group_links
                      where group_links.invited_group_id = ${group} and (group_links.project_id = joined.id or group_links.group_id = any(place.traversal_ids))
                        and ${countsToday('group_links')})))`;

/** The same for rules of a group: the named group is above or below it, or invited to it or to a group above it. */
export const isGroupOfGroup = (
  group: RawBuilder<unknown>,
  owner: RawBuilder<unknown>,
): RawBuilder<boolean> => sql`exists (
  select from namespaces place join namespaces named on named.id = ${group}
   where place.id = ${owner}
     and (named.id = any(place.traversal_ids) or place.id = any(named.traversal_ids)
          or exists (select from group_links
                      where group_links.invited_group_id = named.id and group_links.group_id = any(place.traversal_ids)
                        and ${countsToday('group_links')})))`;

/** Filters users and groups to the ones that entries of a project can name: its members, its ancestor groups, and the groups that are invited to any of them. */
export async function knownIn(db: Kysely<DB>, project_id: number, { user_ids, group_ids }: Asked): Promise<Grantees> {
  const { rows } = await sql<Row>`
    select user_id, null::bigint as group_id from project_authorizations
     where project_id = ${project_id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')}) and ${countsToday()}
    union
    select null, candidate.id
      from namespaces candidate
     where candidate.id = any(${ofAnyLength(group_ids, 'bigint[]')}) and candidate.kind = 'group'
       and ${isGroupOfProject(sql`candidate.id`, sql`${project_id}::bigint`)}`.execute(db);
  return granteesIn(rows);
}

/** The same for entries of a group: its members, the groups above and below it, and the groups that are invited to it or above it. */
export async function knownInGroup(
  db: Kysely<DB>,
  group_id: number,
  { user_ids, group_ids }: Asked,
): Promise<Grantees> {
  const { rows } = await sql<Row>`
    select user_id, null::bigint as group_id from group_authorizations
     where group_id = ${group_id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')}) and ${countsToday()}
    union
    select null, candidate.id
      from namespaces candidate
     where candidate.id = any(${ofAnyLength(group_ids, 'bigint[]')}) and candidate.kind = 'group'
       and ${isGroupOfGroup(sql`candidate.id`, sql`${group_id}::bigint`)}`.execute(db);
  return granteesIn(rows);
}
