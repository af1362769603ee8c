/** What handlers and jobs work with, as the configuration says. */
import path from 'node:path';
import { trustedKeys } from '../areas/instance/licenses/index.ts';
import { diskBlobs } from '../blobs/index.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';
import type { Services } from '../http/index.ts';
import type { JobServices } from '../jobs/index.ts';
import { mailerFor } from '../mail/index.ts';
import { keyInFile, type Secrets, secretsFrom } from '../secrets/index.ts';

/** Where the secret key is kept when the operator gives none: in the data folder. */
export const secretKeyFile = ({ data }: Pick<Config, 'data'>): string => path.join(data, 'secret.key');

/** Where mail is kept when there is no server to hand it over to. */
export const mailFolder = ({ data }: Pick<Config, 'data'>): string => path.join(data, 'mail');

/**
 * The secrets of the server.
 * @throws SecretKeyError
 */
export const secretsOf = (config: Pick<Config, 'data' | 'secretKey'>): Secrets =>
  secretsFrom(config.secretKey ?? keyInFile(secretKeyFile(config)));

/** What is configured, as far as services need it. */
export type ServicesConfig = Pick<
  Config,
  'url' | 'data' | 'storages' | 'blobs' | 'secretKey' | 'smtpUrl' | 'mailFrom' | 'licensePublicKey'
>;

/** @throws SecretKeyError */
export function servicesFor(config: ServicesConfig, db: Database): Services & JobServices {
  const secrets = secretsOf(config);
  return {
    db,
    url: config.url,
    storages: Object.fromEntries(config.storages.map(({ name, path }) => [name, path])),
    blobs: diskBlobs(config.blobs),
    secrets,
    licenseKeys: trustedKeys(secrets, config.licensePublicKey),
    mailer: mailerFor({ smtpUrl: config.smtpUrl, from: config.mailFrom, folder: mailFolder(config) }),
  };
}
