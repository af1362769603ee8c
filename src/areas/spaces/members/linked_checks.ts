/** Who cannot have what a link gives yet: no seat is left, or an administrator has to approve it (docs/reference/members.md#seats-and-approval-of-promotions). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { heldBack, mustWait } from './approval_actions.ts';
import type { ByLink, Standing } from './linked_rules.ts';
import type { Source } from './rules.ts';
import { newlyBillable } from './seat_queries.ts';

interface Wanted {
  standing: Standing;
  step: { gives: ByLink };
}

/** Users for whom an administrator has been asked already, whatever the answer was. */
async function askedFor(tx: Database, source: Source, user_ids: readonly number[], level: number): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id from member_approvals
     where group_id = ${source.id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')}) and status in ('pending', 'denied')
       and access_level >= ${level}`.execute(tx);
  return rows.map(({ user_id }) => user_id);
}

/** Forgets which links of a level somebody is in, until the provider states them again. */
async function forget(tx: Database, source: Source, user_ids: readonly number[], level: number): Promise<void> {
  await sql`
    delete from linked_members linked
     where group_id = ${source.id} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})
       and (exists (select from ldap_group_links link where link.id = linked.ldap_group_link_id and link.access_level >= ${level})
            or exists (select from saml_group_links link where link.id = linked.saml_group_link_id and link.access_level >= ${level}))`.execute(
    tx,
  );
}

/**
 * Refuses those for whom no seat is left, and those who need an approval, which is asked for once.
 * @param tx a transaction that has locked the source
 * @returns their IDs
 */
export async function refuseUnseated(tx: Database, source: Source, wanted: readonly Wanted[]): Promise<number[]> {
  const refused: number[] = [];
  const byGrant = Map.groupBy(wanted, ({ step: { gives } }) =>
    JSON.stringify([gives.access_level, gives.member_role_id, gives.linked_by_id]),
  );
  // As many as a group has different links.
  for (const same of byGrant.values()) {
    const { access_level, member_role_id, linked_by_id } = same[0]!.step.gives;
    const user_ids = same.map(({ standing }) => standing.user_id);
    const isApproved = !(await mustWait(tx, { id: linked_by_id }));
    const newly = isApproved ? [] : await newlyBillable(tx, user_ids, { access_level, member_role_id });
    const asked = await askedFor(tx, source, newly, access_level);
    const others = user_ids.filter((id) => !asked.includes(id));
    const role = { access_level, member_role_id, expires_at: null };
    const waiting = await heldBack(tx, source, { id: linked_by_id }, { ...role, user_ids: others });
    const missing = [...asked, ...waiting.keys()];
    if (missing.length > 0) await forget(tx, source, missing, access_level);
    refused.push(...missing);
  }
  return refused;
}
