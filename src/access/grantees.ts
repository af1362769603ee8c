/** Whom the rules of a project or group can name: access levels, users and groups. */
import { type Kysely, sql } from 'kysely';
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

/** Of these users and groups, those that entries of a project can name: its members, its ancestor groups, and the groups that are invited to any of them. */
export async function knownIn(db: Kysely<DB>, project_id: number, { user_ids, group_ids }: Asked): Promise<Grantees> {
  const { rows } = await sql<Row>`
    select user_id, null::bigint as group_id from project_authorizations
     where project_id = ${project_id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')}) and ${countsToday()}
    union
    select null, candidate.id
      from projects join namespaces place on place.id = projects.namespace_id
           join namespaces candidate on candidate.id = any(${ofAnyLength(group_ids, 'bigint[]')}) and candidate.kind = 'group'
     where projects.id = ${project_id}
       and (candidate.id = any(place.traversal_ids)
            or exists (select from group_links
                        where invited_group_id = candidate.id and (project_id = projects.id or group_id = any(place.traversal_ids))
                          and ${countsToday()}))`.execute(db);
  return granteesIn(rows);
}

/** The same for entries of a group: its members, the groups above and below it, and those that are invited to it or above it. */
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
      from namespaces place
           join namespaces candidate on candidate.id = any(${ofAnyLength(group_ids, 'bigint[]')}) and candidate.kind = 'group'
     where place.id = ${group_id}
       and (candidate.id = any(place.traversal_ids) or place.id = any(candidate.traversal_ids)
            or exists (select from group_links
                        where invited_group_id = candidate.id and group_links.group_id = any(place.traversal_ids) and ${countsToday()}))`.execute(
    db,
  );
  return granteesIn(rows);
}
