/**
 * Keeps `group_authorizations` and `project_authorizations` equal to what memberships and the tree of groups say. Every change of either calls
 * `refreshAuthorizations` in its own transaction, after its rows are written.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import { levels } from './levels.ts';

/** A group with everything below it, or one project. */
export type Subtree = { group_id: number } | { project_id: number };

/**
 * Makes changes below one top-level namespace take turns. Whoever comes later works on a snapshot that holds what came before, so that no pair of a user and
 * a project is missed by both, and no path is taken twice. Taken first in a transaction that adds to the tree; `refreshAuthorizations` takes it itself.
 * @param namespace_id any namespace of the tree
 */
export async function lockTree(tx: Kysely<DB>, namespace_id: number): Promise<void> {
  await sql`
    select from namespaces where id = (select traversal_ids[1] from namespaces where id = ${namespace_id}) for no key update`.execute(
    tx,
  );
}

const namespaceOf = async (tx: Kysely<DB>, subtree: Subtree): Promise<number> => {
  if ('group_id' in subtree) return subtree.group_id;
  const project = await tx
    .selectFrom('projects')
    .select('namespace_id')
    .where('id', '=', subtree.project_id)
    .executeTakeFirstOrThrow();
  return project.namespace_id;
};

/**
 * Of the rows (user_id, target, access_level, ends) in `grants` those that count at some moment: per level the one that lasts longest, and only if it
 * outlasts every higher level.
 */
const decisive = (grants: RawBuilder<unknown>, target: RawBuilder<unknown>) => sql`
  select user_id, ${target}, access_level, nullif(ends, 'infinity') as expires_at
    from (select *, max(ends) over (partition by user_id, ${target} order by access_level desc
                                    rows between unbounded preceding and 1 preceding) as higher_ends
            from (select user_id, ${target}, access_level, max(ends) as ends
                    from (${grants}) granted where ends > current_date
                   group by user_id, ${target}, access_level) longest) compared
   where higher_ends is null or ends > higher_ends`;

const ends = sql`coalesce(members.expires_at, 'infinity'::date)`;
/** Minimal access admits to a group's own page and to nothing below it. */
const isInherited = sql`members.access_level > ${sql.lit(levels.minimal)}`;
const of = (users: readonly number[] | undefined, column: string) =>
  users === undefined ? sql`true` : sql`${sql.ref(column)} = any(${users}::bigint[])`;

async function refreshGroups(tx: Kysely<DB>, group_id: number, users: readonly number[] | undefined): Promise<void> {
  await sql`
    delete from group_authorizations
     where group_id in (select id from namespaces where traversal_ids @> ${[group_id]}::bigint[]) and ${of(users, 'user_id')}`.execute(
    tx,
  );
  const grants = sql`
    select members.user_id, namespaces.id as group_id, members.access_level, ${ends} as ends
      from namespaces join members on members.group_id = any(namespaces.traversal_ids)
     where namespaces.kind = 'group' and namespaces.traversal_ids @> ${[group_id]}::bigint[] and ${of(users, 'members.user_id')}
       and (members.group_id = namespaces.id or ${isInherited})`;
  await sql`
    insert into group_authorizations (user_id, group_id, access_level, expires_at) ${decisive(grants, sql`group_id`)}`.execute(
    tx,
  );
}

async function refreshProjects(tx: Kysely<DB>, inside: RawBuilder<unknown>, users: readonly number[] | undefined): Promise<void> {
  await sql`
    delete from project_authorizations
     where project_id in (select projects.id from projects join namespaces on namespaces.id = projects.namespace_id where ${inside})
       and ${of(users, 'user_id')}`.execute(tx);
  const grants = sql`
    select members.user_id, projects.id as project_id, members.access_level, ${ends} as ends
      from projects join namespaces on namespaces.id = projects.namespace_id
      join members on members.group_id = any(namespaces.traversal_ids)
     where ${inside} and ${isInherited} and ${of(users, 'members.user_id')}
    union all
    select members.user_id, projects.id, members.access_level, ${ends}
      from projects join namespaces on namespaces.id = projects.namespace_id
      join members on members.project_id = projects.id
     where ${inside} and ${of(users, 'members.user_id')}
    union all
    select namespaces.owner_id, projects.id, 50, 'infinity'::date
      from projects join namespaces on namespaces.id = projects.namespace_id
     where ${inside} and namespaces.kind = 'user' and ${of(users, 'namespaces.owner_id')}`;
  await sql`
    insert into project_authorizations (user_id, project_id, access_level, expires_at) ${decisive(grants, sql`project_id`)}`.execute(
    tx,
  );
}

/**
 * Derives the authorizations in `subtree` anew, in the transaction of the change that made it necessary.
 * @param users ids of the users whose memberships changed; left out, everybody's (a group or project was created or moved)
 */
export async function refreshAuthorizations(tx: Kysely<DB>, subtree: Subtree, users?: readonly number[]): Promise<void> {
  await lockTree(tx, await namespaceOf(tx, subtree));
  if ('project_id' in subtree) return refreshProjects(tx, sql`projects.id = ${subtree.project_id}`, users);
  await refreshGroups(tx, subtree.group_id, users);
  await refreshProjects(tx, sql`namespaces.traversal_ids @> ${[subtree.group_id]}::bigint[]`, users);
}
