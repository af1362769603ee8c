/** Validates the URLs of mirrors, and defines their errors and pauses (docs/reference/mirrors.md). Pure functions. */
import { localTargetOf } from '../../../outbound/index.ts';

export const maximumLengths = { url: 2048, regex: 255, error: 1024, login: 255 };

/** The most push mirrors that a project can have. */
export const maximumMirrors = 10;

/** The credentials for the other server. */
export interface Login {
  username?: string;
  password?: string;
  /** In the format of OpenSSH. */
  private_key?: string;
}

/** The location of a mirror. */
export interface MirrorAddress {
  /** Without secrets: no userinfo over HTTP, but the user for SSH. */
  url: string;
  login: Login;
  /** Whether the URL has a login that is hidden in replies. */
  hides_login: boolean;
}

const schemes = new Set(['http:', 'https:', 'ssh:', 'git:']);
const localTexts = {
  localhost: 'is blocked: Requests to localhost are not allowed',
  'local network': 'is blocked: Requests to the local network are not allowed',
};
const blockedTexts = {
  scheme: 'is blocked: Only allowed schemes are http, https, ssh, git',
  uri: 'is blocked: URI is invalid',
  username: 'is blocked: Username needs to start with an alphanumeric character',
} as const;

/** Undefined if the escaping is invalid. */
function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: no part may contain them.
const unsafe = /[\s\x00-\x1f\x7f]/;

/** The host, normalised by `URL` as for HTTP: only for these schemes does it handle all notations of an address. */
const hostOf = ({ hostname }: URL): string | undefined => URL.parse(`http://${hostname}/`)?.hostname;

/** The parts of a URL, if neither git, ssh nor a shell could misinterpret any of them; undefined otherwise. */
function partsOf(url: URL) {
  const { pathname, search, hash } = url;
  const [username, password, path] = [url.username, url.password, pathname].map(unescaped);
  const host = hostOf(url);
  if (username === undefined || password === undefined || path === undefined || !host) return undefined;
  const isSafe = ![username, password, path].some((part) => unsafe.test(part)) && !host.startsWith('-');
  const isRepository = path.split('/').every((part) => !part.startsWith('-') && part !== '..') && path.length > 1;
  return isSafe && isRepository && search === '' && hash === '' ? { username, password, path, host } : undefined;
}

/**
 * Reads the URL of a mirror.
 * @param mayBeLocal whether the settings of the server allow addresses of the local network
 * @returns the reason for refusing it, or the parsed address
 */
export function addressIn(text: string, mayBeLocal: boolean): string | MirrorAddress {
  const scheme = /^([a-z][a-z0-9+.-]*:)/i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && !schemes.has(scheme)) return blockedTexts.scheme;
  // The parser tolerates white space and backslashes, which other programs may interpret differently.
  const url = /[\s\\]/.test(text) || !/^[a-z]+:\/\//i.test(text) ? null : URL.parse(text);
  const parts = url && partsOf(url);
  if (!url || !parts) return blockedTexts.uri;
  const { username, password, host } = parts;
  if (username !== '' && !/^[a-z0-9]/i.test(username)) return blockedTexts.username;
  const target = mayBeLocal ? undefined : localTargetOf(host);
  if (target !== undefined) return localTexts[target];
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  const port = url.port === '' ? '' : `:${url.port}`;
  const shown = url.protocol === 'ssh:' && username !== '' ? `${encodeURIComponent(username)}@` : '';
  return {
    url: `${url.protocol}//${shown}${host}${port}${url.pathname}`,
    login: { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) },
    hides_login: password !== '' || (isWeb && username !== ''),
  };
}

/** A URL with its login masked, as shown in replies. */
export const maskedUrl = ({ url, hides_login }: Pick<MirrorAddress, 'url' | 'hides_login'>): string =>
  hides_login ? url.replace(/^(https?|git):\/\//, '$1://*****:*****@').replace(/^(ssh:\/\/[^@/]*)@/, '$1:*****@') : url;

/** Removes the login, and the logins in all URLs, from a text. A user name alone is often a token. */
function withoutSecrets(text: string, { username, password, private_key }: Login): string {
  const secrets = [password, private_key, private_key === undefined && username !== 'git' ? username : undefined];
  const written = secrets.flatMap((secret) => (secret ? [secret, encodeURIComponent(secret)] : []));
  return written
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '*****'), text)
    .replaceAll(/([a-z]+:\/\/)[^\s/@]*@/gi, '$1*****:*****@');
}

/** An error message for storage: on short lines, without control characters. */
export const keptError = (text: string, login: Login): string =>
  withoutSecrets(text, login)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the other system has sent some of this.
    .replaceAll(/[\x00-\x09\x0b-\x1f\x7f\ufffd]/g, ' ')
    .slice(0, maximumLengths.error)
    .toWellFormed();

/** A line of `known_hosts`, with or without hosts and a comment, reduced to type and Base64; undefined for any other text. */
export function hostKeyIn(line: string): string | undefined {
  const words = line.trim().split(/\s+/);
  const at = words.findIndex((word) => /^(?:ssh-|ecdsa-sha2-)[a-z0-9-]+$/.test(word));
  const [type, key] = at === 0 || at === 1 ? [words[at], words[at + 1]] : [];
  const bytes = Buffer.from(key ?? '', 'base64');
  if (!type || bytes.toString('base64') !== key || bytes.length > 4096 || typeOfKey(bytes) !== type) return undefined;
  return `${type} ${key}`;
}

/** The key type at the beginning of a public key's bytes. */
export const typeOfKey = (key: Buffer): string =>
  key.length < 4 ? '' : key.toString('latin1', 4, 4 + Math.min(key.readUInt32BE(0), 64));

/** The delay in seconds before a failed push is retried; undefined if it is not retried. */
export const pauseBeforePush_s = (failures: number): number | undefined => [60, 300][failures - 1];

/** This many consecutive failures pause a pull mirror. */
export const failuresThatPause = 14;
const usualPause_min = 30;

/** The delay in minutes from the end of a pull to the next one, randomised so that mirrors that started together spread out. */
export function pauseBeforePull_min(failures: number, mirror_max_delay: number): number {
  const pause_min = Math.min(usualPause_min * 2 ** Math.min(failures, 10), Math.max(usualPause_min, mirror_max_delay));
  return pause_min * (0.9 + 0.1 * Math.random());
}
