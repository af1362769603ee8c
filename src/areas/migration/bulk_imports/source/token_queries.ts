/** The tokens for sources, which are stored only encrypted. */
import { type Database, eachRow } from '../../../../db/index.ts';
import type { Secrets } from '../../../../secrets/index.ts';

const purpose = 'bulk import token';

export const sealToken = (secrets: Secrets, token: string): Buffer => secrets.seal(purpose, token);

/** @returns undefined if it was sealed with another secret key, is damaged, or was erased */
export const unsealToken = (secrets: Secrets, sealed: Buffer | null): string | undefined =>
  sealed === null ? undefined : secrets.unseal(purpose, sealed);

/** The migrations whose tokens cannot be read: they were sealed with another secret key, or are damaged. */
export async function* brokenImportTokens(db: Database, secrets: Secrets): AsyncGenerator<number> {
  const withToken = db.selectFrom('bulk_imports').select(['id', 'access_token']).where('access_token', 'is not', null);
  const rows = eachRow((last) => withToken.where('id', '>', last).orderBy('id'));
  for await (const { id, access_token } of rows) if (unsealToken(secrets, access_token) === undefined) yield id;
}
