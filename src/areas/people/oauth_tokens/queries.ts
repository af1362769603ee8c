/** What is told of a token to who holds it, and to its application. */
import { sql } from 'kysely';
import { tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { refreshable_days } from './rules.ts';

/** The token info: its creation in seconds since 1970, and the seconds until it expires, which are null for access tokens of other kinds. */
export async function describe(db: Database, { id, token }: Caller) {
  const row = await db
    .selectFrom('oauth_tokens')
    .select(sql<number>`floor(extract(epoch from oauth_tokens.created_at))`.as('created_at'))
    .select(sql<number>`ceil(extract(epoch from expires_at - now()))`.as('expires_in'))
    .select(
      sql<string | null>`(select uid from oauth_applications where oauth_applications.id = application_id)`.as('uid'),
    )
    .where('oauth_tokens.id', '=', token.id)
    .executeTakeFirst();
  const about = { resource_owner_id: id, scope: token.scopes };
  if (row) {
    const { uid, ...times } = row;
    return { ...times, ...about, application: { uid } };
  }
  const other = await db
    .selectFrom('personal_access_tokens')
    .select(sql<number>`floor(extract(epoch from created_at))`.as('created_at'))
    .where('id', '=', token.id)
    .executeTakeFirst();
  return { created_at: other?.created_at ?? null, expires_in: null, ...about, application: { uid: null } };
}

interface Introspected {
  scopes: string[];
  username: string;
  user_id: number;
  exp: number;
  iat: number;
}

/**
 * A token of an application, by its value or that of its refresh token.
 * @returns undefined for one that does not count, and for one of another application
 */
export async function countingToken(
  db: Database,
  application_id: number,
  value: string,
): Promise<Introspected | undefined> {
  const digest = tokenDigest(value);
  const lasts = sql`case when token_digest = ${digest} then expires_at else oauth_tokens.created_at + make_interval(days => ${sql.lit(refreshable_days)}) end`;
  const { rows } = await sql<Introspected>`
    select scopes, username, user_id, floor(extract(epoch from ${lasts}))::bigint as exp, floor(extract(epoch from oauth_tokens.created_at))::bigint as iat
      from oauth_tokens join users on users.id = user_id
     where (token_digest = ${digest} or refresh_digest = ${digest}) and application_id = ${application_id} and not revoked
       and ${lasts} > now() and users.state = 'active'`.execute(db);
  return rows[0];
}
