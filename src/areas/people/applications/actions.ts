/** Registering applications, renewing their secrets, and deleting them (docs/reference/applications.md). */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, invalid } from '../../../http/index.ts';
import type { ApplicationRow } from './present.ts';
import { applicationsOf, type Owner } from './queries.ts';
import { redirectReasons, scopesIn } from './rules.ts';

const secretPrefix = 'gloas-';

export interface NewApplication {
  name: string;
  redirect_uri: string;
  /** Names between blanks. */
  scopes: string;
  confidential?: boolean | undefined;
  trusted?: boolean | undefined;
}

/** An application with its secret, which is not stored and cannot be shown again. */
export interface MadeApplication {
  row: ApplicationRow;
  secret: string;
}

/** @throws ApiError 404 */
const ownApplication = async (db: Database, owner: Owner, id: number): Promise<ApplicationRow> =>
  found('Application', await applicationsOf(db, owner).where('id', '=', id).forUpdate().executeTakeFirst());

/** @throws ApiError 400 for an address that the application cannot have */
export async function registerApplication(
  db: Database,
  owner: Owner,
  { name, redirect_uri, scopes, confidential = true, trusted = false }: NewApplication,
): Promise<MadeApplication> {
  const reasons = redirectReasons(redirect_uri, confidential);
  if (reasons.length > 0) throw invalid({ redirect_uri: reasons });
  const secret = newTokenValue(secretPrefix);
  const row = await db.transaction().execute((tx) =>
    tx
      .insertInto('oauth_applications')
      .values({
        ...{ name, redirect_uri, confidential, trusted },
        ...(owner === 'instance' ? {} : owner),
        uid: randomBytes(32).toString('hex'),
        secret_digest: tokenDigest(secret),
        scopes: sql<string[]>`${scopesIn(scopes)}::text[]`,
      })
      .returning(['id', 'uid', 'name', 'redirect_uri', 'confidential', 'scopes'])
      .executeTakeFirstOrThrow(),
  );
  return { row, secret };
}

/**
 * Gives an application another secret. The former one no longer counts.
 * @throws ApiError 404 for one that is not the owner's
 */
export function renewSecret(db: Database, owner: Owner, id: number): Promise<MadeApplication> {
  return db.transaction().execute(async (tx) => {
    const row = await ownApplication(tx, owner, id);
    const secret = newTokenValue(secretPrefix);
    await tx
      .updateTable('oauth_applications')
      .set({ secret_digest: tokenDigest(secret) })
      .where('id', '=', id)
      .execute();
    return { row, secret };
  });
}

/**
 * Deletes an application. Its tokens end.
 * @throws ApiError 404 for one that is not the owner's
 */
export async function deleteApplication(db: Database, owner: Owner, id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await ownApplication(tx, owner, id);
    await tx.deleteFrom('oauth_applications').where('id', '=', id).execute();
  });
}
