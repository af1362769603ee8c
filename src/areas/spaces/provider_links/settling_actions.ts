/** Memberships that no provider states any more without having said so: the identity was unlinked, or the person was the last owner. */
import { sql } from 'kysely';
import { lockPlace } from '../../../access/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { settleLinked } from '../members/linked_actions.ts';

interface Forgotten {
  group_id: number;
  user_ids: number[];
}

/** Groups in a transaction of their own, and users of each. */
const batch = 100;

async function forgottenAfter(db: Database, group_id: number): Promise<Forgotten[]> {
  const { rows } = await sql<Forgotten>`
    select group_id, array_agg(user_id) as user_ids from members
     where source is not null and group_id > ${group_id}
       and not exists (select from linked_members linked where linked.group_id = members.group_id and linked.user_id = members.user_id)
     group by group_id order by group_id limit ${sql.lit(batch)}`.execute(db);
  return rows;
}

/**
 * Takes memberships away whose links nobody states any more.
 * @param signal stops the work between two groups
 */
export async function settleForgotten(db: Database, signal: AbortSignal): Promise<void> {
  for (let found = await forgottenAfter(db, 0); found.length > 0; ) {
    for (const { group_id, user_ids } of found) {
      signal.throwIfAborted();
      await repeated(db, async (tx) => {
        await lockPlace(tx, { group_id });
        await settleLinked(tx, group_id, user_ids);
      });
    }
    found = await forgottenAfter(db, found.at(-1)!.group_id);
  }
}
