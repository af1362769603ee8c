/** The start of a secondary. */

import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { askPrimaryForJson, type LinkedSite, PrimaryRefusal, refusalSentence } from '../link/index.ts';
import { endSubscription } from './copy_actions.ts';
import type { Followed } from './definition.ts';
import { installationOf, otherInstallation } from './queries.ts';
import { raiseSequences } from './sequence_actions.ts';

/** A primary that does not answer by then is asked again by a poll. */
const patience_ms = 5000;

/**
 * Makes a server a secondary, and asks the primary whether it can be one.
 * @returns why not, as a sentence, if that can be said already
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
 * Called before migrations change the database of a secondary. They may write rows, with numbers that the primary gives to others, so the database is copied anew when the primary
 * has the same schema. Until then everything stays: the primary may be lost meanwhile, and this site the only one that has it.
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
