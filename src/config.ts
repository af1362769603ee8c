/** The configuration: the environment, read once. All problems are reported together. */
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import type { BlobPlace } from './blobs/index.ts';
import { hostsOf } from './db/host_addresses.ts';
import { noSignInFile, readSignInFile, type SignInFile } from './identity_providers/index.ts';

/** Not 22, which belongs to the SSH server of the machine. */
export const usualSshPort = 2222;

const offerings = ['any', 'self-managed', 'dedicated', 'hosted'] as const;
export type Offering = (typeof offerings)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const geoRoles = ['primary', 'secondary'] as const;

/** The role of the server among the sites of one installation. */
export interface GeoConfig {
  /** If omitted, there is only this site. */
  role: (typeof geoRoles)[number] | undefined;
  /** The node that became primary after this server, which is read-only from then on. It comes from the other sites, not from a variable. */
  successor?: string;
  /** The name of this server's node. */
  nodeName: string;
  /** The URL of the primary for a secondary, without a trailing slash; always set on a secondary. */
  primaryUrl: string | undefined;
  /** The address of the primary's PostgreSQL for a secondary's PostgreSQL. If omitted, it is reached through the primary's own port. */
  databaseUrl: string | undefined;
}

export interface Config {
  /** The external address, without a trailing slash. */
  url: string;
  host: string;
  port: number;
  /** The port of git over SSH; 0 turns it off. If omitted, it is `usualSshPort`, unless another program listens there. */
  sshPort: number | undefined;
  /** Absolute path of the folder for all embedded data. */
  data: string;
  /** An external server. If omitted, the embedded one below `data` is used. */
  databaseUrl: string | undefined;
  /** The named git storages, in the order given; paths are absolute. */
  storages: { name: string; path: string }[];
  /** Where large files are stored; the path of a folder is absolute. */
  blobs: BlobPlace;
  /** The secret that encrypts values in the database. If omitted, it is stored in a file below `data`. */
  secretKey: string | undefined;
  /** The mail server, `smtp://` or `smtps://`. If omitted, mail is stored in files below `data`. */
  smtpUrl: string | undefined;
  /** The sender of mail. */
  mailFrom: { name: string; address: string };
  rootPassword: string | undefined;
  rootToken: string | undefined;
  rootEmail: string | undefined;
  /** A license to install at the start, or `none`. If omitted, a new server issues one to itself. */
  license: string | undefined;
  /** An Ed25519 public key in PEM. Licenses signed with it are accepted too. */
  licensePublicKey: string | undefined;
  offering: Offering;
  /** Addresses, networks and the names proxy-addr knows (`loopback`, `linklocal`, `uniquelocal`). */
  trustedProxies: string[];
  logLevel: LogLevel;
  /** Its name among the processes of the site. If omitted, it is made of the names of the machine and the port. */
  nodeName: string | undefined;
  /** How long a server that was told to stop says that it is not ready before it stops accepting connections, in seconds. */
  drain_s: number;
  /** How many processes answer requests. */
  processes: number;
  /** The token for reading the metrics from other machines. */
  metricsToken: string | undefined;
  /** How many connections an address may have open. Behind a trusted proxy: how many concurrent requests a client may have. */
  connectionsPerAddress: number;
  /** How many error tracking events may wait to be grouped before further ones are refused. */
  ingestQueueMax: number;
  /** Error tracking events are refused if the disk of the data folder has less free space than this, in MiB. */
  ingestMinFreeDisk_mb: number;
  geo: GeoConfig;
  /** Who signs people in besides their passwords here. */
  signIn: SignInFile;
}

/** All problems of the configuration, each a sentence that names its variable. */
export class ConfigError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const variables = [
  'COPPICE_URL',
  'COPPICE_HOST',
  'COPPICE_PORT',
  'COPPICE_SSH_PORT',
  'COPPICE_DATA',
  'COPPICE_DATABASE_URL',
  'COPPICE_STORAGES',
  'COPPICE_BLOBS',
  'COPPICE_SECRET_KEY',
  'COPPICE_SMTP_URL',
  'COPPICE_MAIL_FROM',
  'COPPICE_ROOT_PASSWORD',
  'COPPICE_ROOT_TOKEN',
  'COPPICE_ROOT_EMAIL',
  'COPPICE_LICENSE',
  'COPPICE_LICENSE_PUBLIC_KEY',
  'COPPICE_OFFERING',
  'COPPICE_TRUSTED_PROXIES',
  'COPPICE_LOG_LEVEL',
  'COPPICE_NODE_NAME',
  'COPPICE_DRAIN_SECONDS',
  'COPPICE_PROCESSES',
  'COPPICE_METRICS_TOKEN',
  'COPPICE_CONNECTIONS_PER_ADDRESS',
  'COPPICE_INGEST_QUEUE_MAX',
  'COPPICE_INGEST_MIN_FREE_DISK_MB',
  'COPPICE_GEO_ROLE',
  'COPPICE_GEO_NODE_NAME',
  'COPPICE_GEO_PRIMARY_URL',
  'COPPICE_GEO_DATABASE_URL',
  'COPPICE_SIGN_IN',
] as const;
type Variable = (typeof variables)[number];

/** These can also be read from a file, whose path is in NAME_FILE. */
const secrets: readonly Variable[] = [
  'COPPICE_DATABASE_URL',
  'COPPICE_SECRET_KEY',
  'COPPICE_SMTP_URL',
  'COPPICE_ROOT_PASSWORD',
  'COPPICE_ROOT_TOKEN',
  'COPPICE_LICENSE',
  'COPPICE_LICENSE_PUBLIC_KEY',
  'COPPICE_METRICS_TOKEN',
  'COPPICE_GEO_DATABASE_URL',
];

type Environment = Record<string, string | undefined>;
type Values = { [Name in Variable]?: string };

/**
 * Reads the configuration.
 * @param env the environment, like `process.env`; an empty variable counts as unset, because compose files pass empty ones
 * @throws ConfigError with all problems
 */
export function readConfig(env: Environment): Config {
  const problems = unknownVariables(env);
  const values: Values = Object.fromEntries(variables.map((name) => [name, textOf(env, name, problems)]));
  const given = <T>(name: Variable, read: (value: string) => T | Problem) => {
    const value = values[name];
    if (value === undefined) return undefined;
    const result = read(value);
    if (!(result instanceof Problem)) return result;
    problems.push(`${name} ${result.text}`);
    return undefined;
  };
  const host = given('COPPICE_HOST', readHost) ?? '127.0.0.1';
  const port = given('COPPICE_PORT', portFrom(1)) ?? 3000;
  const data = path.resolve(values.COPPICE_DATA ?? 'data');
  const url = given('COPPICE_URL', readOwnUrl) ?? defaultUrl(host, port);
  const config: Config = {
    url,
    host,
    port,
    sshPort: given('COPPICE_SSH_PORT', portFrom(0)),
    data,
    databaseUrl: given('COPPICE_DATABASE_URL', readDatabaseUrl),
    storages: given('COPPICE_STORAGES', readStorages) ?? [{ name: 'default', path: path.join(data, 'repositories') }],
    blobs: given('COPPICE_BLOBS', readBlobPlace) ?? { kind: 'folder', path: path.join(data, 'blobs') },
    secretKey: given('COPPICE_SECRET_KEY', atLeast(32)),
    smtpUrl: given('COPPICE_SMTP_URL', readSmtpUrl),
    mailFrom: given('COPPICE_MAIL_FROM', readSender) ?? { name: usualSender, address: `coppice@${mailDomain(url)}` },
    rootPassword: given('COPPICE_ROOT_PASSWORD', atLeast(8)),
    rootToken: given('COPPICE_ROOT_TOKEN', readToken),
    rootEmail: given('COPPICE_ROOT_EMAIL', readEmail),
    license: values.COPPICE_LICENSE,
    licensePublicKey: given('COPPICE_LICENSE_PUBLIC_KEY', readPublicKey),
    offering: given('COPPICE_OFFERING', oneOf(offerings)) ?? 'any',
    trustedProxies: given('COPPICE_TRUSTED_PROXIES', readProxies) ?? [],
    logLevel: given('COPPICE_LOG_LEVEL', oneOf(logLevels)) ?? 'info',
    nodeName: given('COPPICE_NODE_NAME', readNodeName),
    drain_s: given('COPPICE_DRAIN_SECONDS', wholeNumber(0, 600)) ?? 0,
    processes: given('COPPICE_PROCESSES', countUpTo(64)) ?? 1,
    metricsToken: given('COPPICE_METRICS_TOKEN', readToken),
    connectionsPerAddress: given('COPPICE_CONNECTIONS_PER_ADDRESS', countUpTo(100_000)) ?? 200,
    ingestQueueMax: given('COPPICE_INGEST_QUEUE_MAX', countUpTo(10_000_000)) ?? 100_000,
    ingestMinFreeDisk_mb: given('COPPICE_INGEST_MIN_FREE_DISK_MB', wholeNumber(0, 1_000_000_000)) ?? 512,
    geo: {
      role: given('COPPICE_GEO_ROLE', oneOf(geoRoles)),
      nodeName: given('COPPICE_GEO_NODE_NAME', readNodeName) ?? url,
      primaryUrl: given('COPPICE_GEO_PRIMARY_URL', readOwnUrl),
      databaseUrl: given('COPPICE_GEO_DATABASE_URL', readDatabaseUrl),
    },
    signIn: noSignInFile,
  };
  if (values.COPPICE_SIGN_IN !== undefined) {
    const read = readSignInFile(values.COPPICE_SIGN_IN, env);
    if (Array.isArray(read)) problems.push(...read.map((text) => `COPPICE_SIGN_IN ${text}`));
    else config.signIn = read;
  }
  if (config.geo.role === 'secondary' && values.COPPICE_GEO_PRIMARY_URL === undefined)
    problems.push('COPPICE_GEO_PRIMARY_URL must say where this secondary reaches the primary.');
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The problem of a value: the end of a sentence that starts with the name of the variable. */
class Problem {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function unknownVariables(env: Environment): string[] {
  const known = new Set<string>([...variables, ...secrets.map((name) => `${name}_FILE`)]);
  return Object.keys(env)
    .filter((name) => name.startsWith('COPPICE_') && !known.has(name))
    .sort()
    .map((name) => `${name} is not a variable of Coppice; it may be misspelt.`);
}

function textOf(env: Environment, name: Variable, problems: string[]): string | undefined {
  const value = env[name] || undefined;
  const file = secrets.includes(name) ? env[`${name}_FILE`] || undefined : undefined;
  if (file === undefined) return value;
  if (value !== undefined) {
    problems.push(`${name} and ${name}_FILE are both set; keep one of them.`);
    return undefined;
  }
  try {
    const content = readFileSync(file, 'utf8').trimEnd();
    if (content === '') problems.push(`${name}_FILE names a file that is empty: ${file}.`);
    return content || undefined;
  } catch (error) {
    problems.push(`${name}_FILE names a file that cannot be read: ${file} (${(error as NodeJS.ErrnoException).code}).`);
    return undefined;
  }
}

/** The URL for a listening address: all interfaces and the loopback ones are reached as localhost. */
function defaultUrl(host: string, port: number): string {
  const everywhere = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host);
  const name = everywhere ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host;
  return port === 80 ? `http://${name}` : `http://${name}:${port}`;
}

function readUrl(value: string): string | Problem {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return new Problem(`must be an address like https://forge.example.com, not “${value}”.`);
  }
  if (url.username || url.password || url.search || url.hash) {
    return new Problem('must be a plain address, without a user, a query or a fragment.');
  }
  return url.href.replace(/\/+$/, '');
}

/** The external address: links, cookies and the paths of git begin at its root. */
function readOwnUrl(value: string): string | Problem {
  const url = readUrl(value);
  if (url instanceof Problem || new URL(url).pathname === '/') return url;
  return new Problem(
    `must end with the host or port, not with a path like ${new URL(url).pathname}: give Coppice a host name of its own.`,
  );
}

function readHost(value: string): string | Problem {
  const isName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value) && !/^[\d.]+$/.test(value);
  if (isIP(value) !== 0 || isName) return value;
  return new Problem(`must be an IP address or a host name to listen on, not “${value}”.`);
}

const wholeNumber =
  (least: number, most: number) =>
  (value: string): number | Problem => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    return new Problem(`must be a whole number from ${least} to ${most}, not “${value}”.`);
  };
const countUpTo = (most: number) => wholeNumber(1, most);
const portFrom = (least: number) => wholeNumber(least, 65_535);

/** Its problems do not repeat the value, which usually contains a password. */
function readDatabaseUrl(value: string): string | Problem {
  const hosts = hostsOf(value).map((host) => URL.parse(host));
  if (hosts.every((url) => url !== null && ['postgres:', 'postgresql:'].includes(url.protocol))) return value;
  return new Problem(
    'must be an address like postgres://user:password@host:5432/database, with commas between several hosts.',
  );
}

/** Its problems do not repeat the value, which may contain a password. */
function readSmtpUrl(value: string): string | Problem {
  const url = URL.parse(value);
  if (url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname) return value;
  return new Problem('must be an address like smtp://user:password@mail.example.com:587.');
}

/** The domain of the server's own email addresses: the host of its external address, or `localhost` if that is an IP address. */
export function mailDomain(url: string): string {
  const { hostname } = new URL(url);
  return hostname.startsWith('[') || isIP(hostname) !== 0 ? 'localhost' : hostname;
}

function readStorages(value: string): Config['storages'] | Problem {
  const storages: Config['storages'] = [];
  for (const part of value.split(',')) {
    const [, name, folder] = /^\s*([A-Za-z0-9_-]+)\s*=\s*(.*\S)\s*$/.exec(part) ?? [];
    if (name === undefined || folder === undefined) {
      return new Problem(`must be like default=/srv/repositories,second=/mnt/repositories; “${part.trim()}” is not.`);
    }
    storages.push({ name, path: path.resolve(folder) });
  }
  if (new Set(storages.map((storage) => storage.name)).size < storages.length)
    return new Problem('names a storage twice.');
  if (new Set(storages.map((storage) => storage.path)).size < storages.length)
    return new Problem('gives two storages the same folder.');
  return storages;
}

/** A folder, or `s3://bucket/prefix?endpoint=…&region=…&path_style=…` (docs/operating.md#large-files-in-s3). */
function readBlobPlace(value: string): BlobPlace | Problem {
  if (!/^\w+:\/\//.test(value)) return { kind: 'folder', path: path.resolve(value) };
  const url = URL.parse(value);
  if (url?.protocol !== 's3:' || url.hash || url.port) {
    return new Problem(
      'must be a folder or an address like s3://bucket?endpoint=https://s3.example.com&region=us-east-1.',
    );
  }
  // The value is not repeated: it may contain a password.
  if (url.username || url.password)
    return new Problem('must not contain credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  return readBucket(url);
}

const s3Parameters = ['endpoint', 'region', 'path_style'];

function readBucket({ hostname: bucket, pathname, searchParams: given }: URL): BlobPlace | Problem {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    return new Problem(`names a bucket that S3 does not allow: “${bucket}”.`);
  const unknown = [...given.keys()].find(
    (name, index, all) => !s3Parameters.includes(name) || all.indexOf(name) < index,
  );
  if (unknown !== undefined) return new Problem(`takes ${s3Parameters.join(', ')} once each, not “${unknown}”.`);
  const [endpoint, region, style] = s3Parameters.map((name) => given.get(name) || undefined);
  if (endpoint === undefined && region === undefined)
    return new Problem('needs a region, or the endpoint of another store than Amazon S3.');
  const base = endpoint === undefined ? undefined : readUrl(endpoint);
  if (base instanceof Problem) return new Problem(`has an endpoint that ${base.text}`);
  if (style !== undefined && !['true', 'false'].includes(style))
    return new Problem('takes true or false as path_style.');
  const folder = pathname.replace(/^\/+|\/+$/g, '');
  return {
    kind: 's3',
    bucket,
    prefix: folder === '' ? '' : `${decodeURIComponent(folder)}/`,
    endpoint: base,
    region: region ?? 'us-east-1',
    path_style: style === undefined ? endpoint !== undefined : style === 'true',
  };
}

const atLeast = (length: number) => (value: string) =>
  value.length >= length ? value : new Problem(`must have at least ${length} characters.`);

function readToken(value: string): string | Problem {
  if (/^[\x21-\x7e]{8,255}$/.test(value)) return value;
  return new Problem(
    'must have from 8 to 255 characters, all of them printable ASCII without spaces, since it is sent in headers.',
  );
}

/** Accepts a public key only: a private key must stay with its issuer. */
function readPublicKey(value: string): string | Problem {
  try {
    if (value.includes('PUBLIC KEY') && createPublicKey(value).asymmetricKeyType === 'ed25519') return value;
  } catch {
    // Reported below.
  }
  return new Problem(
    'must be the public key of the license issuer, an Ed25519 key in PEM, as `license key` prints it there.',
  );
}

function readEmail(value: string): string | Problem {
  return /^[^\s@]+@[^\s@]+$/.test(value) ? value : new Problem(`must be an email address, not “${value}”.`);
}

const usualSender = 'Coppice';

/** An address, alone or in angle brackets behind a name. */
function readSender(value: string): Config['mailFrom'] | Problem {
  const [, quoted, plain, address] = /^(?:"([^"]*)"|([^"<>]*?))\s*<([^<>]+)>$/.exec(value) ?? [];
  const read = readEmail(address ?? value);
  if (read instanceof Problem)
    return new Problem(`must be an email address, perhaps with a name: Forge <forge@example.com>, not “${value}”.`);
  return { name: (quoted ?? plain ?? '').trim() || usualSender, address: read };
}

function readNodeName(value: string): string | Problem {
  const name = value.trim();
  if (name.length > 0 && name.length <= 255) return name;
  return new Problem('must be the name of this server’s node, of 1 to 255 characters.');
}

const oneOf =
  <T extends string>(allowed: readonly T[]) =>
  (value: string): T | Problem =>
    allowed.find((each) => each === value) ?? new Problem(`must be one of ${allowed.join(', ')}, not “${value}”.`);

function readProxies(value: string): string[] | Problem {
  const proxies = value.split(',').map((part) => part.trim());
  const wrong = proxies.find((proxy) => !isProxy(proxy));
  return wrong === undefined
    ? proxies
    : new Problem(`must list addresses or networks like 10.0.0.0/8; “${wrong}” is not one.`);
}

function isProxy(value: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(value)) return true;
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const version = isIP(address);
  return version !== 0 && (prefix === undefined || Number(prefix) <= (version === 4 ? 32 : 128));
}
