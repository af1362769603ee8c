/** What users hold in a group, by hand and by links. */
import { sql } from 'kysely';
import { countsToday, hasEnded } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { Standing } from './linked_rules.ts';
import type { Source } from './rules.ts';

const linkColumns = 'access_level, member_role_id, created_by_id as linked_by_id';

/** @param source a group */
export async function standingsOf(tx: Database, source: Source, user_ids: readonly number[]): Promise<Standing[]> {
  const links = (kind: 'ldap' | 'saml') => sql`
    select ${sql.lit(kind)} as source, link.id, ${sql.raw(linkColumns)} from linked_members linked
      join ${sql.table(`${kind}_group_links`)} link on link.id = ${sql.ref(`linked.${kind}_group_link_id`)}
     where linked.group_id = ${source.id} and linked.user_id = asked.user_id`;
  const { rows } = await sql<{ [K in keyof Standing]: Standing[K] | null }>`
    select asked.user_id,
           (select json_build_object('id', id, 'access_level', access_level, 'member_role_id', member_role_id, 'expires_at', expires_at,
                     'created_by_id', created_by_id, 'source', source, 'has_ended', coalesce(${hasEnded()}, false))
              from members where group_id = ${source.id} and user_id = asked.user_id) as held,
           (select json_build_object('access_level', access_level, 'member_role_id', member_role_id, 'expires_at', expires_at, 'created_by_id', created_by_id)
              from members_by_hand where group_id = ${source.id} and user_id = asked.user_id and ${countsToday()}) as beneath,
           (select json_build_object('access_level', access_level, 'member_role_id', member_role_id, 'source', source, 'linked_by_id', linked_by_id)
              from (${links('ldap')} union all ${links('saml')}) given
             order by access_level desc, member_role_id nulls last, source, id limit 1) as link
      from unnest(${ofAnyLength(user_ids, 'bigint[]')}) asked(user_id)
     order by asked.user_id`.execute(tx);
  return rows.map(({ user_id, held, beneath, link }) => ({
    user_id: user_id!,
    held: held ?? undefined,
    beneath: beneath ?? undefined,
    link: link ?? undefined,
  }));
}
