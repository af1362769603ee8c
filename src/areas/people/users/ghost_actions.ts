/** The ghost: one user to whom belongs what people have left behind who are no longer there. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { freePath } from '../namespaces/index.ts';
import { createUser } from './actions.ts';

/** Any number; two that need the first ghost at the same time must make one. */
const lock = 726_673_004;

const ghostIn = (db: Database) => db.selectFrom('users').select('id').where('user_type', '=', 'ghost').executeTakeFirst();

/**
 * The ghost, made when it is first needed.
 * @param url the external address, whose host the ghost's address is at
 * @returns its id
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

/** A ghost has no namespace that would keep its name from others, so that a user may have it although no namespace does. */
async function freeName(tx: Database): Promise<string> {
  const name = (await freePath(tx, 'ghost', undefined)) ?? 'ghost';
  const taken = await tx.selectFrom('users').select('id').where('username', '=', name).executeTakeFirst();
  return taken ? `${name}_${crypto.randomUUID()}` : name;
}
