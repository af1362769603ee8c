/** What users let applications do (docs/reference/oauth_tokens.md#what-was-agreed-to). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Who lets which application do what. */
export interface Consent {
  user_id: number;
  application_id: number;
  scopes: readonly string[];
}

/** Records that a user lets an application do something, besides what they have agreed to before. */
export async function recordConsent(tx: Database, { user_id, application_id, scopes }: Consent): Promise<void> {
  await sql`
    insert into oauth_consents as known (user_id, application_id, scopes) values (${user_id}, ${application_id}, ${scopes}::text[])
    on conflict (user_id, application_id) do update
       set scopes = array(select distinct unnest(known.scopes || excluded.scopes) order by 1)`.execute(tx);
}
