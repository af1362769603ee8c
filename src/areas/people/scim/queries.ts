/** Accounts as SCIM sees them: those with an identity of its provider (docs/reference/scim.md). */
import { type SqlBool, sql } from 'kysely';
import { tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Filter } from './rules.ts';

export interface ScimUser {
  id: number;
  uid: string;
  username: string;
  name: string;
  email: string;
  state: string;
  created_at: string;
  updated_at: string;
}

/** Whether a token is the one of SCIM. */
export async function isScimToken(db: Database, token: string): Promise<boolean> {
  const { rows } = await sql`select from scim_tokens where token_digest = ${tokenDigest(token)}`.execute(db);
  return rows.length > 0;
}

const members = sql`users.id, extern_uid as uid, username, name, email, state, created_at, updated_at`;
const ofProvider = (provider: string) =>
  sql`from user_identities join users on users.id = user_id where provider = ${provider}`;

/** @param lock whether the account stays as it is until the transaction ends */
export async function scimUser(
  db: Database,
  provider: string,
  uid: string,
  { lock }: { lock: boolean } = { lock: false },
): Promise<ScimUser | undefined> {
  const { rows } = await sql<ScimUser>`
    select ${members} ${ofProvider(provider)} and extern_uid = ${uid} ${sql.raw(lock ? 'for no key update of users' : '')}`.execute(
    db,
  );
  return rows[0];
}

const conditions: Record<Filter['by'], (value: string) => ReturnType<typeof sql<SqlBool>>> = {
  uid: (value) => sql`extern_uid = ${value}`,
  username: (value) => sql`username = ${value}`,
  email: (value) => sql`email = ${value}`,
};

/** A part of the accounts, ordered by their external uid, and the number of all of them. */
export async function scimUsers(
  db: Database,
  provider: string,
  filter: Filter | undefined,
  { start, count }: { start: number; count: number },
): Promise<{ total: number; users: ScimUser[] }> {
  const condition = filter ? conditions[filter.by](filter.value) : sql<SqlBool>`true`;
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total ${ofProvider(provider)} and ${condition}`.execute(db);
  const { rows: users } = await sql<ScimUser>`
    select ${members} ${ofProvider(provider)} and ${condition} order by extern_uid limit ${count} offset ${start - 1}`.execute(
    db,
  );
  return { total: rows[0]!.total, users };
}
