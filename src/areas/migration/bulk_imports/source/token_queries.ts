/** The tokens for sources, which are only stored encrypted. */
import type { Database } from '../../../../db/index.ts';
import { isReadable, type Secrets } from '../../../../secrets/index.ts';

const purpose = 'bulk import token';

export const sealToken = (secrets: Secrets, token: string): Buffer => secrets.seal(purpose, token);

/** @returns undefined when it was sealed with another secret key, is damaged, or has been erased */
export const unsealToken = (secrets: Secrets, sealed: Buffer | null): string | undefined =>
  sealed !== null && isReadable(secrets, purpose, sealed) ? secrets.unseal(purpose, sealed) : undefined;

/** The migrations whose tokens cannot be read: they were sealed with another secret key, or are damaged. */
export async function* brokenImportTokens(db: Database, secrets: Secrets): AsyncGenerator<number> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('bulk_imports')
      .select(['id', 'access_token'])
      .where('access_token', 'is not', null)
      .where('id', '>', last)
      .orderBy('id')
      .limit(1000)
      .execute();
    if (rows.length === 0) return;
    last = rows.at(-1)!.id;
    yield* rows.filter(({ access_token }) => unsealToken(secrets, access_token) === undefined).map(({ id }) => id);
  }
}
