/** Reading what people have agreed to, and how they signed in. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Whether a user has agreed to all of these scopes before. */
export async function hasAgreed(
  db: Database,
  { user_id, application_id, scopes }: { user_id: number; application_id: number; scopes: readonly string[] },
): Promise<boolean> {
  const { rows } = await sql`
    select from oauth_consents
     where user_id = ${user_id} and application_id = ${application_id} and scopes @> ${scopes}::text[]`.execute(db);
  return rows.length > 0;
}

/** When the person of a session last proved who they are, and how (RFC 8176). */
export async function signInOf(db: Database, session_id: number) {
  const { authenticated_at, methods } = await db
    .selectFrom('web_sessions')
    .select(['authenticated_at', 'methods'])
    .where('id', '=', session_id)
    .executeTakeFirstOrThrow();
  return { authenticated_at, amr: methods };
}
