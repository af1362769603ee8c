/** Counts of the contents of namespaces and their descendants, shown to owners. */
import { sql } from 'kysely';
import { countsToday } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { countingEach } from '../../../lists/index.ts';
import { isBillable } from '../../instance/licenses/index.ts';
import type { NamespaceRow } from './present.ts';

/** The counts shown to owners of a namespace. */
export interface Counts {
  members_count_with_descendants?: number;
  billable_members_count?: number;
  /** Equal to `billable_members_count`. */
  seats_in_use?: number;
  /** The highest `seats_in_use` so far. */
  max_seats_used?: number;
  projects_count?: number;
  /** The size in bytes. */
  root_repository_size?: number;
}

/** The given namespaces and all their descendants: `top_id`, `id`. */
const placesBelow = (ids: readonly number[]) => sql`
  (select top.id as top_id, inside.id from unnest(${ofAnyLength(ids, 'bigint[]')}) top(id) join namespaces inside on inside.traversal_ids @> array[top.id])`;

/**
 * The number of users that are members of each group or of anything in it; for top-level groups also how many of them
 * take a seat.
 */
async function memberCounts(
  db: Database,
  groups: readonly Pick<NamespaceRow, 'id' | 'parent_id'>[],
): Promise<Map<number, Counts>> {
  if (groups.length === 0) return new Map();
  const ids = groups.map(({ id }) => id);
  const tops = groups.filter(({ parent_id }) => parent_id === null).map(({ id }) => id);
  const { rows } = await sql<{ id: number; members: number; billable: number; most: number }>`
    with place as (select * from ${placesBelow(ids)} place),
         joined as (select top_id, user_id from place join members on members.group_id = place.id where ${countsToday('members')}
                    union
                    select top_id, user_id from place join projects on projects.namespace_id = place.id join members on members.project_id = projects.id
                     where members.project_id is not null and ${countsToday('members')}),
         counted as (select top_id, count(*) as members, count(*) filter (where top_id = any(${ofAnyLength(tops, 'bigint[]')}) and ${isBillable}) as billable
                       from joined join users on users.id = joined.user_id group by top_id)
    select top.id, coalesce(members, 0) as members, coalesce(billable, 0) as billable, greatest(billable, most_used, 0) as most
      from unnest(${ofAnyLength(ids, 'bigint[]')}) top(id) left join counted on top_id = top.id left join group_seats on group_id = top.id`.execute(
    db,
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    groups.map(({ id, parent_id }) => {
      const { members, billable, most } = found.get(id)!;
      const seats = { billable_members_count: billable, seats_in_use: billable, max_seats_used: most };
      return [id, { members_count_with_descendants: members, ...(parent_id === null ? seats : {}) }];
    }),
  );
}

/** The number of projects in each namespace and below it, and the size of their repositories as last measured. */
async function projectCounts(db: Database, namespaces: readonly NamespaceRow[]): Promise<Map<number, Counts>> {
  if (namespaces.length === 0) return new Map();
  const ids = namespaces.map(({ id }) => id);
  const { rows } = await sql<{ id: number; projects: number; size_bytes: number }>`
    select top_id as id, count(*) as projects, coalesce(sum(size_bytes), 0)::bigint as size_bytes
      from ${placesBelow(ids)} place join projects on projects.namespace_id = place.id
      left join repository_sizes on repository_sizes.project_id = projects.id
     group by top_id`.execute(db);
  const found = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    ids.map((id) => {
      const { projects, size_bytes } = found.get(id) ?? { projects: 0, size_bytes: 0 };
      return [id, { projects_count: projects, root_repository_size: size_bytes }];
    }),
  );
}

const countEach = countingEach<Counts>(
  ({ members_count_with_descendants = 0, projects_count = 0 }) => members_count_with_descendants + projects_count,
);

/**
 * The counts of each namespace, in order. All are computed together, so that members and projects are read at most
 * once; slow counts may be five seconds old.
 */
export const countsOf = (db: Database, namespaces: readonly NamespaceRow[]): Promise<Counts[]> =>
  countEach(
    db,
    namespaces,
    ({ id, parent_id }) => `${id} in ${parent_id}`,
    async (rows) => {
      const [members, projects] = await Promise.all([
        memberCounts(
          db,
          rows.filter(({ kind }) => kind === 'group'),
        ),
        projectCounts(
          db,
          rows.filter(({ parent_id }) => parent_id === null),
        ),
      ]);
      return rows.map(({ id }) => ({ ...members.get(id), ...projects.get(id) }));
    },
  );

const countedAtOnce = 1000;

/**
 * Counts the seats that each top-level group takes, and stores the maximum.
 * @param signal stops it between two batches
 */
export async function recordSeats(db: Database, signal: AbortSignal): Promise<void> {
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const groups = await db
      .selectFrom('namespaces')
      .select(['id', 'parent_id'])
      .where('kind', '=', 'group')
      .where('parent_id', 'is', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(countedAtOnce)
      .execute();
    const counts = await memberCounts(db, groups);
    const [ids, seats] = [[...counts.keys()], [...counts.values()].map(({ seats_in_use }) => seats_in_use!)];
    await sql`
      insert into group_seats (group_id, most_used)
      select id, seats from unnest(${ofAnyLength(ids, 'bigint[]')}, ${ofAnyLength(seats, 'integer[]')}) counted(id, seats)
       where exists (select from namespaces where namespaces.id = counted.id for key share)
          on conflict (group_id) do update set most_used = excluded.most_used where group_seats.most_used < excluded.most_used`.execute(
      db,
    );
    if (groups.length < countedAtOnce) return;
    after = groups.at(-1)!.id;
  }
}
