/** Builds the services of handlers and jobs from the configuration. */
import path from 'node:path';
import { type Blobs, diskBlobs, s3Blobs } from '../blobs/index.ts';
import { type Config, usualSshPort } from '../config.ts';
import type { Database } from '../db/index.ts';
import type { Provider } from '../identity_providers/index.ts';
import { mailerFor } from '../mail/index.ts';
import { keyInFile, type Secrets, secretsFrom } from '../secrets/index.ts';
import type { Emptying } from './emptying.ts';
import type { HookEventKind } from './hook_events.ts';
import type { MailTarget } from './mail_subjects.ts';
import type { RepositoryServices } from './repositories.ts';
import type { StoredFiles } from './stored_files.ts';

export type { Emptying } from './emptying.ts';
export type { Filling, HookEventKind, Told } from './hook_events.ts';
export type { MailItem, MailNote, MailPlace, MailSubject, MailTarget } from './mail_subjects.ts';
export type {
  Move,
  Owner,
  ProjectMove,
  ProjectMoveDetails,
  PushAnswered,
  PushFollower,
  Repositories,
  RepositoryKind,
  RepositoryServices,
  WriteEffects,
} from './repositories.ts';
export { fromOf, keyOf, type StoredFiles } from './stored_files.ts';

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

/** The folder of uploads in progress when blobs are stored in S3. */
const incomingFolder = ({ data }: Pick<Config, 'data'>): string => path.join(data, 'incoming');

/** The folder of files that are being fetched from other systems. */
const downloadsFolder = ({ data }: Pick<Config, 'data'>): string => path.join(data, 'downloads');

/** The store of large files. */
export const blobsOf = (config: Pick<Config, 'data' | 'blobs'>): Blobs =>
  config.blobs.kind === 's3' ? s3Blobs(config.blobs, incomingFolder(config)) : diskBlobs(config.blobs.path);

/** The short form is for the port that SSH clients take by default. */
function sshUrl({ url, sshPort = usualSshPort }: Pick<Config, 'url' | 'sshPort'>): string | undefined {
  if (sshPort === 0) return undefined;
  const { hostname } = new URL(url);
  return sshPort === 22 ? `git@${hostname}:` : `ssh://git@${hostname}:${sshPort}/`;
}

/** The storages by name. The rows of a secondary name the storages of its primary; a repository on a storage that the secondary lacks is on its `default`, or else on its first. */
export function storagesOf({ storages, geo }: Pick<Config, 'storages' | 'geo'>): Readonly<Record<string, string>> {
  const byName: Record<string, string> = Object.fromEntries(storages.map(({ name, path }) => [name, path]));
  if (geo.role !== 'secondary') return byName;
  return new Proxy(byName, { get: (own, name: string) => own[name] ?? own.default ?? storages[0]?.path });
}

/** The part of the configuration that services need. */
export type ServicesConfig = Pick<
  Config,
  | 'url'
  | 'sshPort'
  | 'data'
  | 'storages'
  | 'blobs'
  | 'secretKey'
  | 'smtpUrl'
  | 'mailFrom'
  | 'licensePublicKey'
  | 'geo'
  | 'signIn'
>;

/** What directories are asked with. */
export type DirectoryServices = Pick<JobServices, 'db' | 'url' | 'sign_in'>;

/** Somebody of whom a provider has said something. */
export interface StatedPerson {
  user_id: number;
  /** Identifies them at the provider. */
  uid: string;
  /** The groups that they are in there; undefined if it has said nothing of groups. */
  groups: readonly string[] | undefined;
}

/** The services of jobs. */
export interface JobServices extends RepositoryServices {
  /** What comes before the path of a repository in its address for git over SSH; undefined when the server does not speak it. */
  ssh_url: string | undefined;
  /** Large files that are not in a repository. */
  blobs: Blobs;
  /** The folder of files that are being fetched from other systems, and deleted after use. */
  downloads: string;
  secrets: Secrets;
  /** The public key of another trusted license issuer. */
  licensePublicKey: Config['licensePublicKey'];
  /** What this server is among the sites of the installation. */
  geo: Config['geo'];
  /** Who signs people in besides their passwords here. */
  sign_in: Config['signIn'];
  mailer: ReturnType<typeof mailerFor>;
  /** The rows that are deleted in batches before a project is. */
  emptying: readonly Emptying[];
  /** The files that are stored as blobs. */
  stored_files: readonly StoredFiles[];
  /** The subjects of mail. */
  mail_targets: readonly MailTarget[];
  /** The kinds of events for webhooks. */
  hook_events: readonly HookEventKind[];
  /** Asks the directories of the operator whose name and password something is. @returns the id of the user */
  askDirectories(services: DirectoryServices, given: { login: string; password: string }): Promise<number | undefined>;
  /** Makes memberships follow what a provider has said of people. */
  followGroups(services: Pick<JobServices, 'db'>, provider: Provider, people: readonly StatedPerson[]): Promise<void>;
}

/** The services of handlers and access rules. They do not send mail: jobs do that after the commit. */
export type Services = Omit<JobServices, 'mailer' | 'emptying' | 'mail_targets'>;

/** The contributions of the areas: `areas/index.ts` collects them. */
export type AreaServices = Pick<
  JobServices,
  'repositories' | 'emptying' | 'stored_files' | 'mail_targets' | 'hook_events' | 'askDirectories' | 'followGroups'
>;

/**
 * All services.
 * @throws SecretKeyError
 */
export const servicesFor = (config: ServicesConfig, db: Database, areas: AreaServices): JobServices => ({
  db,
  ...areas,
  url: config.url,
  ssh_url: sshUrl(config),
  storages: storagesOf(config),
  blobs: blobsOf(config),
  downloads: downloadsFolder(config),
  secrets: secretsOf(config),
  licensePublicKey: config.licensePublicKey,
  geo: config.geo,
  sign_in: config.signIn,
  mailer: mailerFor({ smtpUrl: config.smtpUrl, from: config.mailFrom, folder: mailFolder(config) }),
});

/**
 * The addresses of a repository for git.
 * @param path without `.git`
 * @returns `ssh` is empty when the server does not speak SSH
 */
export const cloneUrls = (
  { url, ssh_url }: Pick<Services, 'url' | 'ssh_url'>,
  path: string,
): { http: string; ssh: string } => ({
  http: `${url}/${path}.git`,
  ssh: ssh_url === undefined ? '' : `${ssh_url}${path}.git`,
});
