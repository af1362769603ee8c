/** Reading the keys that sign ID tokens. */
import { type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { PublishedKey } from './rules.ts';

/** How long a key is published after another one has replaced it. */
const published_hours = 24;

/** The keys by which tokens can be checked, the one in use first; none until the first token is made. */
export async function publishedKeys(db: Database): Promise<PublishedKey[]> {
  const rows = await db
    .selectFrom('id_token_keys')
    .select((q) => q.ref('public_key').$castTo<PublishedKey>().as('public_key'))
    .where(
      sql<SqlBool>`(retired_at is null or retired_at > now() - make_interval(hours => ${sql.lit(published_hours)}))`,
    )
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ public_key }) => public_key);
}

/** The key in use, encrypted; undefined until the first token is made. */
export const keyInUse = (db: Database) =>
  db
    .selectFrom('id_token_keys')
    .select('private_key')
    .select((q) => q.ref('public_key').$castTo<PublishedKey>().as('public_key'))
    .where('retired_at', 'is', null)
    .executeTakeFirst();
