/** Complete changes of memberships: each locks the tree, writes the rows, and brings the authorizations up to date. */
import { sql } from 'kysely';
import { levels, refreshAuthorizations, type Subtree } from '../../access/index.ts';
import type { Database } from '../../db/index.ts';
import { checkUnmodified, forbidden, found, invalid } from '../../http/index.ts';
import { recordEvents } from '../events/index.ts';
import { counts, hasOtherOwner, inherited, isDirect, lockedSource } from './queries.ts';
import { type Actor, isProtected, levelReasons, type Source } from './rules.ts';

export interface NewMembers {
  user_ids: readonly number[];
  access_level: number;
  /** The first day on which the memberships do not count, `YYYY-MM-DD`. */
  expires_at?: string | null | undefined;
  /** Whether those who are members already get the new level, too, or are refused. */
  existing: 'change' | 'refuse';
}

/** Why somebody was not added: he is there already, he may not be touched, or reasons by field. */
export type Refusal = 'exists' | 'protected' | Record<string, string[]>;

/**
 * Adds people to a group or project. Those who cannot be added are left out; the others are.
 * @param tx a transaction
 * @returns by user, why he was left out
 */
export async function addMembers(
  tx: Database,
  subtree: Subtree,
  actor: Actor,
  members: NewMembers,
): Promise<Map<number, Refusal>> {
  const source = await lockedSource(tx, subtree);
  const { access_level, expires_at = null } = members;
  const user_ids = [...new Set(members.user_ids)];
  const refusals = await refusalsOf(tx, source, actor, { ...members, user_ids });
  const accepted = user_ids.filter((id) => !refusals.has(id));
  if (accepted.length === 0) return refusals;
  const rows = accepted.map((user_id) => ({ ...subtree, user_id, access_level, expires_at, created_by_id: actor.id }));
  const written = await tx
    .insertInto('members')
    .values(rows)
    .onConflict((conflict) =>
      // The row in the way either has ended, which makes this a new membership, or is to be changed.
      conflict.columns([source.kind === 'group' ? 'group_id' : 'project_id', 'user_id']).doUpdateSet({
        access_level,
        expires_at,
        created_by_id: sql`case when members.expires_at <= current_date then excluded.created_by_id else members.created_by_id end`,
        created_at: sql`case when members.expires_at <= current_date then now() else members.created_at end`,
        updated_at: sql`now()`,
      }),
    )
    .returning('user_id')
    // Begun in this transaction, and not changed.
    .returning(sql<boolean>`created_at = now()`.as('is_new'))
    .execute();
  const joined = written.filter(({ is_new }) => is_new).map(({ user_id }) => user_id);
  await recordMemberships(tx, subtree, joined, 'joined');
  // Whoever is a member asks for nothing any more.
  await sql`delete from access_requests where ${isDirect(source)} and user_id = any(${accepted}::bigint[])`.execute(tx);
  await refreshAuthorizations(tx, subtree, accepted);
  return refusals;
}

/** Memberships are told of in projects only, each as what the member did himself. */
async function recordMemberships(
  tx: Database,
  place: Subtree,
  user_ids: readonly number[],
  action: 'joined' | 'left' | 'expired',
): Promise<void> {
  if (!('project_id' in place)) return;
  const { project_id } = place;
  const what = { project_id, action, target_type: 'Project' as const, target_id: project_id };
  await recordEvents(
    tx,
    user_ids.map((author_id) => ({ ...what, author_id })),
  );
}

async function refusalsOf(tx: Database, source: Source, actor: Actor, members: NewMembers): Promise<Map<number, Refusal>> {
  const { user_ids, access_level, existing } = members;
  const above = await inherited(tx, source, user_ids);
  // Counted without all of them, so that two owners are not taken for each other's stand-in.
  const otherOwner = await hasOtherOwner(tx, source, user_ids);
  const present = await tx
    .selectFrom('members')
    .select(['user_id', 'access_level'])
    .where(isDirect(source))
    .where(counts)
    .where(sql<boolean>`user_id = any(${user_ids}::bigint[])`)
    .execute();
  const held = new Map(present.map((member) => [member.user_id, member.access_level]));
  const refusals = new Map<number, Refusal>();
  for (const user_id of user_ids) {
    const reasons = levelReasons(source, access_level, above.get(user_id));
    const level = user_id === source.personal_owner_id ? levels.owner : held.get(user_id);
    if (level !== undefined && existing === 'refuse') refusals.set(user_id, 'exists');
    else if (level !== undefined && isProtected(source, actor, { user_id, access_level: level }, access_level, otherOwner))
      refusals.set(user_id, 'protected');
    else if (reasons.length > 0) refusals.set(user_id, { access_level: reasons });
  }
  return refusals;
}

/**
 * Makes the members of another project members of a project, at most with the level of who does it. Whoever has a role there that is no lower is left alone.
 * @param tx a transaction
 * @param from id of the other project, whose members the actor may see
 */
export async function importMembers(tx: Database, project_id: number, actor: Actor, from: number): Promise<void> {
  const source = await lockedSource(tx, { project_id });
  const level = sql`least(members.access_level, ${actor.access_level}::integer)`;
  const { rows } = await sql<{ user_id: number }>`
    insert into members (project_id, user_id, access_level, expires_at, created_by_id)
    select ${project_id}, members.user_id, ${level}, members.expires_at, ${actor.id}
      from members join users on users.id = members.user_id
     where members.project_id = ${from} and (members.expires_at is null or members.expires_at > current_date)
       and users.user_type = 'human' and users.id is distinct from ${source.personal_owner_id}::bigint
       and not exists (select from project_authorizations held where held.project_id = ${project_id} and held.user_id = users.id
                          and held.access_level >= ${level} and (held.expires_at is null or held.expires_at > current_date))
    on conflict (project_id, user_id) do update
       set access_level = excluded.access_level, expires_at = excluded.expires_at, created_by_id = excluded.created_by_id,
           created_at = now(), updated_at = now()
     where members.expires_at <= current_date
    returning user_id`.execute(tx);
  const user_ids = rows.map(({ user_id }) => user_id);
  await recordMemberships(tx, { project_id }, user_ids, 'joined');
  // Whoever is a member asks for nothing any more.
  await sql`delete from access_requests where ${isDirect(source)} and user_id = any(${user_ids}::bigint[])`.execute(tx);
  await refreshAuthorizations(tx, { project_id }, user_ids);
}

/** The membership that counts, or the refusal for who has none. */
async function memberOf(tx: Database, source: Source, user_id: number) {
  if (user_id === source.personal_owner_id) throw forbidden();
  const query = tx.selectFrom('members').select(['id', 'user_id', 'access_level', 'updated_at']);
  return found(undefined, await query.where(isDirect(source)).where('user_id', '=', user_id).where(counts).executeTakeFirst());
}

/**
 * Changes the level of a member, and with `expires_at` the end of the membership.
 * @param tx a transaction
 * @throws ApiError 404 for who is no member, 403 for a change that nobody or not this actor may make, 400 for a level below what is inherited
 */
export async function changeMember(
  tx: Database,
  subtree: Subtree,
  actor: Actor,
  { user_id, access_level, expires_at }: { user_id: number; access_level: number; expires_at?: string | null | undefined },
): Promise<void> {
  const source = await lockedSource(tx, subtree);
  const member = await memberOf(tx, source, user_id);
  if (isProtected(source, actor, member, access_level, await hasOtherOwner(tx, source, [user_id]))) throw forbidden();
  const reasons = levelReasons(source, access_level, (await inherited(tx, source, [user_id])).get(user_id));
  if (reasons.length > 0) throw invalid({ access_level: reasons });
  await tx
    .updateTable('members')
    .set({ access_level, ...(expires_at === undefined ? {} : { expires_at }), updated_at: sql`now()` })
    .where('id', '=', member.id)
    .execute();
  await refreshAuthorizations(tx, subtree, [user_id]);
}

/**
 * Ends a membership.
 * @param tx a transaction
 * @param below whether the memberships in the groups and projects inside end as well
 * @throws ApiError 404 for who is no member, 403 as for a change, 412 when it changed after `unmodified_since`
 */
export async function removeMember(
  tx: Database,
  subtree: Subtree,
  actor: Actor,
  { user_id, below, unmodified_since }: { user_id: number; below: boolean; unmodified_since?: Date | undefined },
): Promise<void> {
  const source = await lockedSource(tx, subtree);
  const member = await memberOf(tx, source, user_id);
  if (isProtected(source, actor, member, undefined, await hasOtherOwner(tx, source, [user_id]))) throw forbidden();
  checkUnmodified(member.updated_at, unmodified_since);
  await tx.deleteFrom('members').where('id', '=', member.id).execute();
  await recordMemberships(tx, subtree, [user_id], 'left');
  if (below && 'group_id' in subtree) await removeBelow(tx, subtree.group_id, user_id);
  await refreshAuthorizations(tx, subtree, [user_id]);
}

async function removeBelow(tx: Database, group_id: number, user_id: number): Promise<void> {
  const groups = sql`select id from namespaces where traversal_ids @> ${[group_id]}::bigint[]`;
  const { rows } = await sql<{ project_id: number | null }>`
    delete from members where user_id = ${user_id}
       and (group_id in (${groups}) or project_id in (select id from projects where namespace_id in (${groups})))
    returning project_id`.execute(tx);
  await recordEvents(
    tx,
    rows.flatMap(({ project_id }) =>
      project_id === null
        ? []
        : [{ project_id, author_id: user_id, action: 'left', target_type: 'Project', target_id: project_id }],
    ),
  );
}

/** Sources that one run of the job looks at before it asks again. */
const batch = 100;

/**
 * Removes the memberships that have ended. They have not counted since; this is only tidying, and so each group or project has a transaction of its own.
 * @param signal ends the work between two of them
 * @returns how many were removed
 */
export async function removeExpiredMembers(db: Database, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (;;) {
    const sources = await db
      .selectFrom('members')
      .select(['group_id', 'project_id'])
      .distinct()
      .where(sql<boolean>`expires_at <= current_date`)
      .limit(batch)
      .execute();
    if (sources.length === 0) return removed;
    for (const { group_id, project_id } of sources) {
      signal?.throwIfAborted();
      const subtree = group_id === null ? { project_id: project_id! } : { group_id };
      removed += await db.transaction().execute((tx) => removeExpired(tx, subtree));
    }
  }
}

async function removeExpired(tx: Database, subtree: Subtree): Promise<number> {
  const source = await lockedSource(tx, subtree);
  const gone = await tx
    .deleteFrom('members')
    .where(isDirect(source))
    .where(sql<boolean>`expires_at <= current_date`)
    .returning('user_id')
    .execute();
  const user_ids = gone.map(({ user_id }) => user_id);
  await recordMemberships(tx, subtree, user_ids, 'expired');
  await refreshAuthorizations(tx, subtree, user_ids);
  return gone.length;
}
