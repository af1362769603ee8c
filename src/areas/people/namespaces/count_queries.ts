/** What is in namespaces and below them, as their owners see it. */
import { sql } from 'kysely';
import { countsToday } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { isBillable } from '../../instance/licenses/index.ts';
import type { NamespaceRow } from './present.ts';

/** What owners see of what is in a namespace and below it. */
export interface Counts {
  members_count_with_descendants?: number;
  billable_members_count?: number;
  projects_count?: number;
}

/** All namespaces below some, and these themselves: `top_id`, `id`. */
const placesBelow = (ids: readonly number[]) => sql`
  (select top.id as top_id, inside.id from unnest(${ofAnyLength(ids, 'bigint[]')}) top(id) join namespaces inside on inside.traversal_ids @> array[top.id])`;

/** How many users are members of each group or of something in it; of top-level groups also how many of them take a seat. */
export async function memberCounts(db: Database, groups: readonly NamespaceRow[]): Promise<(Counts & { id: number })[]> {
  if (groups.length === 0) return [];
  const ids = groups.map(({ id }) => id);
  const tops = groups.filter(({ parent_id }) => parent_id === null).map(({ id }) => id);
  const { rows } = await sql<{ id: number; members: number; billable: number }>`
    with place as (select * from ${placesBelow(ids)} place),
         joined as (select top_id, user_id from place join members on members.group_id = place.id where ${countsToday('members')}
                    union
                    select top_id, user_id from place join projects on projects.namespace_id = place.id join members on members.project_id = projects.id
                     where ${countsToday('members')})
    select top_id as id, count(*) as members, count(*) filter (where top_id = any(${ofAnyLength(tops, 'bigint[]')}) and ${isBillable}) as billable
      from joined join users on users.id = joined.user_id group by top_id`.execute(db);
  const found = new Map(rows.map((row) => [row.id, row]));
  return groups.map(({ id, parent_id }) => {
    const { members, billable } = found.get(id) ?? { members: 0, billable: 0 };
    return { id, members_count_with_descendants: members, ...(parent_id === null ? { billable_members_count: billable } : {}) };
  });
}

/** How many projects are in each namespace and below it. */
export async function projectCounts(db: Database, namespaces: readonly NamespaceRow[]): Promise<(Counts & { id: number })[]> {
  if (namespaces.length === 0) return [];
  const ids = namespaces.map(({ id }) => id);
  const { rows } = await sql<{ id: number; projects: number }>`
    select top_id as id, count(*) as projects from ${placesBelow(ids)} place join projects on projects.namespace_id = place.id
     group by top_id`.execute(db);
  const found = new Map(rows.map(({ id, projects }) => [id, projects]));
  return ids.map((id) => ({ id, projects_count: found.get(id) ?? 0 }));
}
