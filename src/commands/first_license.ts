/** The license that a server installs when it starts. */
import { sql } from 'kysely';
import { addLicense, issueLicense, normalised, trustedKeys } from '../areas/instance/licenses/index.ts';
import { type Config, mailDomain } from '../config.ts';
import { today } from '../cron/index.ts';
import type { Database } from '../db/index.ts';
import { ApiError, type Services, textOf } from '../http/index.ts';
import { OperatorError } from './command.ts';

/** An arbitrary number. Servers that start together on a new database must install only one license. */
const lock = 726_673_003;

/**
 * Installs the configured license if it is missing. When none is configured, issues an Ultimate license, unless the server has ever had one.
 * @throws OperatorError when the configured license is refused
 */
export async function installFirstLicense(
  { db, secrets, licensePublicKey }: Pick<Services, 'db' | 'secrets' | 'licensePublicKey'>,
  { license, url }: Pick<Config, 'license' | 'url'>,
): Promise<void> {
  if (license === 'none') return;
  await db
    .transaction()
    .execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
      const text = await wantedText(tx, license, () => issueLicense(secrets, everything(url)));
      if (text !== undefined) await addLicense(tx, trustedKeys(secrets, licensePublicKey), text);
    })
    .catch(explain);
}

/** Undefined when there is nothing to install. */
async function wantedText(
  tx: Database,
  license: string | undefined,
  issue: () => Promise<string>,
): Promise<string | undefined> {
  if (license === undefined) {
    const begun = await tx.selectFrom('licensing').select('began_at').executeTakeFirst();
    return begun ? undefined : await issue();
  }
  const known = await tx.selectFrom('licenses').select('id').where('text', '=', normalised(license)).executeTakeFirst();
  return known ? undefined : license;
}

const everything = (url: string) => ({
  licensee: { Name: 'Coppice', Company: mailDomain(url) },
  starts_at: today(),
  restrictions: { plan: 'ultimate' as const },
});

function explain(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new OperatorError(`COPPICE_LICENSE was refused: ${textOf(error)}`);
}
