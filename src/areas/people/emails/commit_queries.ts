/** Finding the users of email addresses in commits. */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';

/** A user with an address that occurs in commits. */
export interface AddressOwner {
  user_id: number;
  username: string;
  /** Null for the private address of the user. */
  email: string | null;
}

/** The form of private addresses from `commitEmailOf`. */
const privateAddress = /^(\d{1,15})-[^@]+@users\.noreply\./;

/**
 * The users of this server with the given addresses: verified ones, and private ones, which are recognised by the id in
 * them.
 * @param emails as they occur in commits
 */
export async function ownersOfAddresses(db: Database, emails: readonly string[]): Promise<AddressOwner[]> {
  // PostgreSQL accepts no NUL in texts.
  const known = emails.filter((email) => !email.includes('\0'));
  const ids = known.flatMap((email) => privateAddress.exec(email)?.[1] ?? []).map(Number);
  const { rows } = await sql<AddressOwner>`
    select users.id as user_id, username, emails.email from emails join users on users.id = emails.user_id
     where emails.email = any(${ofAnyLength(known, 'citext[]')}) and emails.confirmed_at is not null
     union all
    select id, username, null from users where id = any(${ofAnyLength(ids, 'bigint[]')})`.execute(db);
  return rows;
}
