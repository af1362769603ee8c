/** The accounts of the server itself: the ghost user, to whom contributions of deleted users are moved, and the bot of security policies. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { freePath } from '../namespaces/queries.ts';
import { createUser } from './actions.ts';

/** An arbitrary number. Concurrent callers that need an account for the first time must create only one. */
const lock = 726_673_004;

const accounts = {
  ghost: { path: 'ghost', name: 'Ghost User' },
  security_policy_bot: { path: 'security-policy-bot', name: 'Security Policy Bot' },
} as const;
type InternalType = keyof typeof accounts;

interface InternalServices {
  db: Database;
  /** The external address, whose host is used for the email address of the account. */
  url: string;
}

const accountIn = (db: Database, user_type: InternalType) =>
  db.selectFrom('users').select('id').where('user_type', '=', user_type).executeTakeFirst();

async function internalUser({ db, url }: InternalServices, user_type: InternalType): Promise<number> {
  const known = await accountIn(db, user_type);
  if (known) return known.id;
  const { path, name } = accounts[user_type];
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
    const faster = await accountIn(tx, user_type);
    if (faster) return faster.id;
    const username = await freeName(tx, path);
    const email = `${username}@noreply.${new URL(url).hostname}`;
    return createUser(tx, { username, name, email, confirmed: true, user_type });
  });
}

/** A free username. The account has no namespace, so a path without a namespace can still be the username of another user. */
async function freeName(tx: Database, path: string): Promise<string> {
  const name = (await freePath(tx, path, undefined)) ?? path;
  const taken = await tx.selectFrom('users').select('id').where('username', '=', name).executeTakeFirst();
  return taken ? `${name}_${crypto.randomUUID()}` : name;
}

/**
 * The ghost user, created on first use.
 * @returns its ID
 */
export const ghostUser = (services: InternalServices): Promise<number> => internalUser(services, 'ghost');

/**
 * The account that writes for security policies, created on first use.
 * @returns its ID
 */
export const securityPolicyBot = (services: InternalServices): Promise<number> =>
  internalUser(services, 'security_policy_bot');
