/** Access to pages that are expensive to render (docs/reference/repository_pages.md#visitors-who-are-not-signed-in). */
import { type Kysely, sql } from 'kysely';
import { type DB, dataLoader } from '../db/index.ts';
import { keptWithRights } from './rights_version.ts';

interface Setting {
  need_sign_in: boolean;
}

const everyone = 'everyone';

/** A change of the settings raises the version of rights. */
const settingOfRequests = keptWithRights(
  'costly pages',
  (question: string) => question,
  dataLoader<string, Setting>(
    (question) => question,
    async (db) => {
      const { rows } = await sql<Setting>`
        select costly_pages_need_sign_in as need_sign_in from application_settings`.execute(db);
      return new Map(rows.map((row) => [everyone, row]));
    },
  ),
);

/**
 * Whether visitors who are not signed in are refused costly pages.
 * @param version the version of rights that counts for the request
 */
export const costlyPagesNeedSignIn = async (db: Kysely<DB>, version: string): Promise<boolean> =>
  (await settingOfRequests(db, everyone, version))?.need_sign_in ?? false;
