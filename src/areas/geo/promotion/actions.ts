/** Making a secondary the primary (docs/reference/geo.md#promotion). */
import { sql } from 'kysely';
import { stamped } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { endSubscription } from '../following/copy_actions.ts';
import { raiseSequences } from '../following/sequence_actions.ts';
import { newCredential } from '../link/credential_rules.ts';

/**
 * Makes this site the primary and the old one a disabled secondary. It is one transaction, so an interrupted promotion
 * has no effect.
 * @param services of a secondary whose database is complete
 */
export const promote = ({ db, geo, secrets }: Pick<Services, 'db' | 'geo' | 'secrets'>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await endSubscription(tx, null);
    await raiseSequences(tx);
    await tx
      .updateTable('geo_nodes')
      .set(stamped({ primary: false, enabled: false, credential: newCredential(secrets) }))
      .where('primary', '=', true)
      .execute();
    const now = sql<string>`now()`;
    await tx
      .updateTable('geo_nodes')
      .set(stamped({ primary: true, enabled: true, selective_sync_type: null, promoted_at: now }))
      .where('name', '=', geo.nodeName)
      .execute();
    await tx.updateTable('geo_following').set({ promoted_at: now }).execute();
  });
