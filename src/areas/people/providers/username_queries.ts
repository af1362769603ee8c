/** Usernames of accounts that are made for somebody whom a provider has stated (docs/reference/sign_in_providers.md#accounts). */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Stated } from '../../../identity_providers/index.ts';
import { usernamesFor } from './rules.ts';

/** The first username that neither a user nor a group has. */
export async function freeUsername(
  tx: Database,
  stated: Pick<Stated, 'username' | 'email'>,
  lowercase: boolean,
): Promise<string> {
  const random = randomBytes(8).toString('hex');
  const names = usernamesFor(stated, random).map((name) => (lowercase ? name.toLowerCase() : name));
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) with ordinality as given(name, place)
     where not exists (select from users where username = given.name)
       and not exists (select from namespaces where full_path = given.name)
     order by place limit 1`.execute(tx);
  return rows[0]!.name;
}
