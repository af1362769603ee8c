/** Memberships that links with providers give, beside memberships made by hand (docs/reference/group_links.md#memberships). */
import { sql } from 'kysely';
import { hasEnded, levels, refreshAuthorizations } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { forgetApprovals } from './approval_actions.ts';
import { tellOfMembers } from './hook_actions.ts';
import { refuseUnseated } from './linked_checks.ts';
import { standingsOf } from './linked_queries.ts';
import { type ByHand, countsForMore, type Standing, type Step, stepFor } from './linked_rules.ts';
import { hasOtherOwner, isDirect, lockedSource } from './queries.ts';
import { removeAccessRequests } from './request_actions.ts';
import type { Source } from './rules.ts';
import { endWhatWaits } from './waiting_actions.ts';

interface Planned {
  standing: Standing;
  step: Step;
}
/** What a link gives somebody. */
interface Linked extends Planned {
  step: Extract<Step, { does: 'link' }>;
}

const linkedIn = (planned: readonly Planned[]): Linked[] =>
  planned.flatMap(({ standing, step }) => (step.does === 'link' ? [{ standing, step }] : []));

const idsOf = (planned: readonly Pick<Planned, 'standing'>[]): number[] =>
  planned.map(({ standing }) => standing.user_id);

const idsWith = (planned: readonly Planned[], does: Step['does']): number[] =>
  idsOf(planned.filter(({ step }) => step.does === does));

/** The steps without those by which a group would lose its last owner, of whom the first stays as they are. */
async function keepingOwner(tx: Database, source: Source, planned: readonly Planned[]): Promise<Planned[]> {
  const isOwner = ({ standing: { held } }: Planned) => held?.access_level === levels.owner && held.expires_at === null;
  const stays = ({ step }: Planned) =>
    step.does === 'nothing' || ('gives' in step && step.gives.access_level === levels.owner);
  const losing = planned.filter((each) => isOwner(each) && !stays(each));
  if (losing.length === 0 || (await hasOtherOwner(tx, source, idsOf(losing)))) return [...planned];
  const { rows } = await sql<{ user_id: number }>`
    select user_id from members join users on users.id = user_id
     where group_id = ${source.id} and user_id = any(${ofAnyLength(idsOf(losing), 'bigint[]')})
       and users.user_type = 'human' and users.state in ('active', 'deactivated')
     order by members.id limit 1`.execute(tx);
  return planned.filter(({ standing }) => standing.user_id !== rows[0]?.user_id);
}

/** Keeps memberships made by hand beneath those that links give. */
async function bury(tx: Database, source: Source, user_ids: readonly number[]): Promise<void> {
  await sql`
    insert into members_by_hand (group_id, user_id, access_level, member_role_id, expires_at, created_by_id, created_at)
    select group_id, user_id, access_level, member_role_id, expires_at, created_by_id, created_at from members
     where group_id = ${source.id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})
    on conflict (group_id, user_id) do update
       set access_level = excluded.access_level, member_role_id = excluded.member_role_id, expires_at = excluded.expires_at,
           created_by_id = excluded.created_by_id, created_at = excluded.created_at`.execute(tx);
}

/** Writes what links give. */
async function writeLinked(tx: Database, source: Source, linked: readonly Linked[]): Promise<void> {
  await bury(tx, source, idsOf(linked.filter(({ step }) => step.buries)));
  const rows = linked.map(({ standing: { user_id }, step: { gives } }) => ({
    ...{ group_id: source.id, user_id, access_level: gives.access_level, member_role_id: gives.member_role_id },
    source: gives.source,
  }));
  await sql`
    insert into members (group_id, user_id, access_level, member_role_id, source)
    select group_id, user_id, access_level, member_role_id, source
      from json_to_recordset(${JSON.stringify(rows)}) as given(group_id bigint, user_id bigint, access_level integer, member_role_id bigint, source text)
    on conflict (group_id, user_id) do update
       set access_level = excluded.access_level, member_role_id = excluded.member_role_id, source = excluded.source, expires_at = null,
           created_by_id = null, created_at = case when ${hasEnded('members')} then now() else members.created_at end, updated_at = now()`.execute(
    tx,
  );
}

/** Gives back what was made by hand. */
async function uncover(tx: Database, source: Source, user_ids: readonly number[]): Promise<void> {
  const users = ofAnyLength(user_ids, 'bigint[]');
  await sql`
    update members
       set access_level = hand.access_level, member_role_id = hand.member_role_id, expires_at = hand.expires_at,
           created_by_id = hand.created_by_id, source = null, updated_at = now()
      from members_by_hand hand
     where hand.group_id = members.group_id and hand.user_id = members.user_id
       and members.group_id = ${source.id} and members.user_id = any(${users})`.execute(tx);
  await sql`delete from members_by_hand where group_id = ${source.id} and user_id = any(${users})`.execute(tx);
}

async function remove(tx: Database, source: Source, user_ids: readonly number[]): Promise<void> {
  const which = sql<boolean>`group_id = ${source.id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})`;
  await tellOfMembers(tx, 'remove', which);
  await sql`delete from members where ${which}`.execute(tx);
  await endWhatWaits(tx, (table) => isDirect(source, table), user_ids);
}

/** What follows for members who have another level. A member has no access request. */
async function tellOfWritten(tx: Database, source: Source, user_ids: readonly number[]): Promise<void> {
  const which = sql<boolean>`${isDirect(source)} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})`;
  await tellOfMembers(tx, 'written', which);
  await removeAccessRequests(tx, which);
  await forgetApprovals(tx, source, user_ids);
}

/**
 * Gives users of a group the higher of what links give and what was made by hand.
 * @param tx a transaction that has locked the tree
 */
export async function settleLinked(tx: Database, group_id: number, user_ids: readonly number[]): Promise<void> {
  if (user_ids.length === 0) return;
  const source = await lockedSource(tx, { group_id });
  const standings = await standingsOf(tx, source, user_ids);
  const planned = standings.map((standing) => ({ standing, step: stepFor(standing) }));
  const refused = await refuseUnseated(tx, source, linkedIn(planned));
  const seated = planned.filter(({ standing }) => !refused.includes(standing.user_id));
  const steps = await keepingOwner(tx, source, seated);
  const linked = linkedIn(steps);
  const [uncovered, removed] = [idsWith(steps, 'uncover'), idsWith(steps, 'remove')];
  if (linked.length > 0) await writeLinked(tx, source, linked);
  if (uncovered.length > 0) await uncover(tx, source, uncovered);
  const written = [...idsOf(linked), ...uncovered];
  if (written.length > 0) await tellOfWritten(tx, source, written);
  if (removed.length > 0) await remove(tx, source, removed);
  const changed = [...written, ...removed];
  if (changed.length > 0) await refreshAuthorizations(tx, { group_id }, changed);
  // What their links gave was forgotten, so that the next lower one counts.
  await settleLinked(tx, group_id, refused);
}

/**
 * Keeps what somebody gets by hand beneath what a link gives, where that counts for more.
 * @param tx a transaction that has locked the tree
 * @returns the users to whom this applies
 */
export async function keptBeneath(
  tx: Database,
  source: Source,
  user_ids: readonly number[],
  hand: ByHand,
): Promise<number[]> {
  if (source.kind !== 'group' || user_ids.length === 0) return [];
  const standings = await standingsOf(tx, source, user_ids);
  const kept = standings.flatMap((standing) => {
    const { held, link } = standing;
    const counts = held !== undefined && link !== undefined && countsForMore(link, hand);
    return counts ? [{ standing, step: { does: 'link' as const, gives: link, buries: false } }] : [];
  });
  const users = ofAnyLength(user_ids, 'bigint[]');
  await sql`delete from members_by_hand where group_id = ${source.id} and user_id = any(${users})`.execute(tx);
  if (kept.length === 0) return [];
  const rows = idsOf(kept).map((user_id) => ({
    ...hand,
    group_id: source.id,
    user_id,
    created_at: sql<string>`now()`,
  }));
  await tx.insertInto('members_by_hand').values(rows).execute();
  const lowered = kept.filter(({ standing: { held } }) => held?.source === null);
  if (lowered.length > 0) {
    await writeLinked(tx, source, lowered);
    await tellOfWritten(tx, source, idsOf(lowered));
    await refreshAuthorizations(tx, { group_id: source.id }, idsOf(lowered));
  }
  return idsOf(kept);
}

/** Lets links count where a membership made by hand has ended. @param tx a transaction that has locked the tree */
export async function settleEnded(tx: Database, group_id: number): Promise<void> {
  const { rows } = await sql<{ user_id: number }>`
    select distinct members.user_id from members join linked_members using (group_id, user_id)
     where members.group_id = ${group_id} and ${hasEnded('members')}`.execute(tx);
  await settleLinked(
    tx,
    group_id,
    rows.map(({ user_id }) => user_id),
  );
}
