/** The licence that a server has from its start. */
import { sql } from 'kysely';
import { addLicense, issueLicense, normalised } from '../areas/instance/licenses/index.ts';
import { type Config, mailDomain } from '../config.ts';
import type { Database } from '../db/index.ts';
import { ApiError, type Services } from '../http/index.ts';
import { OperatorError } from './command.ts';

/** Any number; servers that start together on a new database must install one licence. */
const lock = 726_673_003;

/**
 * Installs the configured licence, unless it is there already; where none is configured, one with everything, unless the server has ever had a licence.
 * @throws OperatorError when the configured one is refused
 */
export async function installFirstLicense(
  { db, secrets, licenseKeys }: Pick<Services, 'db' | 'secrets' | 'licenseKeys'>,
  { license, url }: Pick<Config, 'license' | 'url'>,
): Promise<void> {
  if (license === 'none') return;
  await db
    .transaction()
    .execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
      const text = await wantedText(tx, license, () => issueLicense(secrets, everything(url)));
      if (text !== undefined) await addLicense(tx, licenseKeys, text);
    })
    .catch(explain);
}

/** Undefined where there is nothing to install. */
async function wantedText(tx: Database, license: string | undefined, issue: () => Promise<string>): Promise<string | undefined> {
  if (license === undefined) {
    const begun = await tx.selectFrom('licensing').select('began_at').executeTakeFirst();
    return begun ? undefined : await issue();
  }
  const known = await tx.selectFrom('licenses').select('id').where('text', '=', normalised(license)).executeTakeFirst();
  return known ? undefined : license;
}

const everything = (url: string) => ({
  licensee: { Name: 'Coppice', Company: mailDomain(url) },
  starts_at: new Date().toISOString().slice(0, 10),
  restrictions: { plan: 'ultimate' as const },
});

function explain(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new OperatorError(`COPPICE_LICENSE was refused: ${(error.body as { message: string }).message}`);
}
