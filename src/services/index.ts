/** Builds the services of handlers and jobs from the configuration. */
import path from 'node:path';
import { diskBlobs } from '../blobs/index.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';
import { mailerFor } from '../mail/index.ts';
import { keyInFile, type Secrets, secretsFrom } from '../secrets/index.ts';

/** The file of the secret key in the data folder, unless the operator sets a key. */
export const secretKeyFile = ({ data }: Pick<Config, 'data'>): string => path.join(data, 'secret.key');

/** The folder of mail when no mail server is configured. */
export const mailFolder = ({ data }: Pick<Config, 'data'>): string => path.join(data, 'mail');

/**
 * The secrets of the server.
 * @throws SecretKeyError
 */
export const secretsOf = (config: Pick<Config, 'data' | 'secretKey'>): Secrets =>
  secretsFrom(config.secretKey ?? keyInFile(secretKeyFile(config)));

/** The part of the configuration that services need. */
export type ServicesConfig = Pick<
  Config,
  'url' | 'data' | 'storages' | 'blobs' | 'secretKey' | 'smtpUrl' | 'mailFrom' | 'licensePublicKey'
>;

/**
 * All services. A new one is declared here and nowhere else; the types follow.
 * @throws SecretKeyError
 */
export function servicesFor(config: ServicesConfig, db: Database) {
  const storages: Readonly<Record<string, string>> = Object.fromEntries(config.storages.map(({ name, path }) => [name, path]));
  return {
    db,
    /** The external address without a trailing slash, e.g. `https://forge.example`. */
    url: config.url,
    /** Git storages by name: absolute folders. */
    storages,
    /** Large files that are not in a repository. */
    blobs: diskBlobs(config.blobs),
    secrets: secretsOf(config),
    /** The public key of another trusted license issuer. */
    licensePublicKey: config.licensePublicKey,
    mailer: mailerFor({ smtpUrl: config.smtpUrl, from: config.mailFrom, folder: mailFolder(config) }),
  };
}

/** The services of jobs. */
export type JobServices = ReturnType<typeof servicesFor>;

/** The services of handlers and access rules. They do not send mail: jobs do that after the commit. */
export type Services = Omit<JobServices, 'mailer'>;
