/** The startup of a secondary. */

import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { refusalSentence } from '../link/check_queries.ts';
import { askPrimaryForJson, type Site as LinkedSite, PrimaryRefusal } from '../link/request_actions.ts';
import { endSubscription } from './copy_actions.ts';
import type { Followed } from './definition.ts';
import { installationOf, otherInstallation } from './queries.ts';
import { raiseSequences } from './sequence_actions.ts';

/** If the primary does not respond within this time, a poll tries again later. */
const patience_ms = 5000;

/**
 * Prepares a server to be a secondary, and checks with the primary whether it can be one.
 * @returns the reason if it cannot, as a sentence, if already known
 */
export async function prepareSecondary(site: LinkedSite, db: Database): Promise<string | undefined> {
  await db
    .insertInto('geo_following')
    .defaultValues()
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { server, slot } = await db.selectFrom('geo_following').select(['server', 'slot']).executeTakeFirstOrThrow();
  const path = `/following?server=${server}&slot=${slot ?? ''}`;
  try {
    const { installation } = await askPrimaryForJson<Followed>(site, { method: 'GET', path, silence_ms: patience_ms });
    const own = await installationOf(db);
    return own === undefined || own === installation ? undefined : otherInstallation;
  } catch (error) {
    return error instanceof PrimaryRefusal && error.reason === 'signature'
      ? refusalSentence(error, site.geo.nodeName)
      : undefined;
  }
}

/**
 * Called before migrations change the database of a secondary. They may insert rows with ids that the primary assigns
 * to other rows, so the database is copied again once the primary has the same schema. Until then everything is kept:
 * if the primary is lost in the meantime, this site has the only copy.
 */
export async function copyAfterMigrations(db: Database): Promise<void> {
  const { rows } = await sql`select from pg_class where oid = to_regclass('public.geo_following')`.execute(db);
  if (rows.length === 0) return;
  await db.transaction().execute(async (tx) => {
    const following = await tx.selectFrom('geo_following').select(['promoted_at', 'copied_at']).executeTakeFirst();
    if (!following || following.promoted_at !== null) return;
    await endSubscription(tx, null);
    await raiseSequences(tx);
    await tx.updateTable('geo_following').set({ copied_at: following.copied_at }).execute();
  });
}
