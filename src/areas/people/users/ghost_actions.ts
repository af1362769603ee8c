/** The ghost user, to whom contributions of deleted users are moved. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { freePath } from '../namespaces/queries.ts';
import { createUser } from './actions.ts';

/** An arbitrary number. Concurrent callers that need the first ghost user must create only one. */
const lock = 726_673_004;

const ghostIn = (db: Database) =>
  db.selectFrom('users').select('id').where('user_type', '=', 'ghost').executeTakeFirst();

/**
 * The ghost user, created on first use.
 * @param url the external address, whose host is used for the ghost user's email address
 * @returns its ID
 */
export async function ghostUser({ db, url }: { db: Database; url: string }): Promise<number> {
  const known = await ghostIn(db);
  if (known) return known.id;
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
    const faster = await ghostIn(tx);
    if (faster) return faster.id;
    const username = await freeName(tx);
    const email = `${username}@noreply.${new URL(url).hostname}`;
    return createUser(tx, { username, name: 'Ghost User', email, confirmed: true, user_type: 'ghost' });
  });
}

/** A free username. The ghost user has no namespace, so a path without a namespace can still be the username of another user. */
async function freeName(tx: Database): Promise<string> {
  const name = (await freePath(tx, 'ghost', undefined)) ?? 'ghost';
  const taken = await tx.selectFrom('users').select('id').where('username', '=', name).executeTakeFirst();
  return taken ? `${name}_${crypto.randomUUID()}` : name;
}
