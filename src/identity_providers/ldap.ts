/** Directories: who somebody is by LDAP (docs/reference/sign_in_providers.md#ldap). */
import { connect, isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import {
  Client,
  type Entry,
  escapeFilter,
  FilterParser,
  InvalidCredentialsError,
  NoSuchObjectError,
  ResultCodeError,
} from 'ldapts';
import { ProviderError, type Stated, storable } from './definition.ts';
import type { LdapProvider } from './members.ts';

/** The name and the password are not those of one person. */
export class WrongCredentials extends Error {
  override name = 'WrongCredentials';
}

const isDisabledBit = 2;
const nested = '1.2.840.113556.1.4.1941';

/** `host:port`, with brackets around an IPv6 address. */
function tlsFor({ verify_certificates, ca_file }: LdapProvider, host: string): ConnectionOptions {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return {
    host: name,
    rejectUnauthorized: verify_certificates,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(ca_file === undefined ? {} : { ca: ca_file }),
  };
}

/**
 * A client for one connection: the library connects anew when a connection is lost, without the encryption that was begun with STARTTLS and thus with passwords
 * for everybody to read.
 */
function clientFor(provider: LdapProvider, host: string, patience_ms: number): Client {
  let count = 0;
  const once: typeof connect = (...given: unknown[]) => {
    if (++count > 1) throw new ProviderError('connection was lost', true);
    return (connect as (...all: unknown[]) => ReturnType<typeof connect>)(...given);
  };
  const isEncrypted = provider.encryption === 'simple_tls';
  return new Client({
    url: `${isEncrypted ? 'ldaps' : 'ldap'}://${host}`,
    timeout: patience_ms,
    connectTimeout: patience_ms,
    ...(isEncrypted ? { tlsOptions: tlsFor(provider, host) } : { createConnection: once }),
  });
}

const bindSelf = ({ bind_dn, password }: LdapProvider, client: Client): Promise<void> =>
  client.bind(bind_dn ?? '', password ?? '');

/** Connects to the first host that answers, as the one who searches. @param opened is told of each client, so that it is closed in any case */
async function connected(provider: LdapProvider, opened: (client: Client) => void): Promise<Client> {
  const hosts = provider.hosts ?? [];
  const patience_ms = (provider.timeout * 1000) / hosts.length;
  for (const host of hosts) {
    const client = clientFor(provider, host, patience_ms);
    opened(client);
    try {
      if (provider.encryption === 'start_tls') await client.startTLS(tlsFor(provider, host));
      await bindSelf(provider, client);
      return client;
    } catch (error) {
      if (error instanceof InvalidCredentialsError) throw new ProviderError('bind_dn is refused', true);
    }
  }
  throw new ProviderError('no connection', true);
}

/** Works with a directory within its time. Whatever comes of it, the connection is closed. */
async function withDirectory<T>(provider: LdapProvider, work: (client: Client) => Promise<T>): Promise<T> {
  const clients: Client[] = [];
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ProviderError('no answer in time', true)), provider.timeout * 1000);
  const running = connected(provider, (client) => clients.push(client)).then(work);
  try {
    return await Promise.race([running, late]);
  } catch (error) {
    if (error instanceof ProviderError || error instanceof WrongCredentials) throw error;
    throw new ProviderError('directory failed', true);
  } finally {
    clearTimeout(timer);
    running.catch(() => undefined);
    for (const client of clients) void client.unbind().catch(() => undefined);
  }
}

/** The first value of the first attribute that an entry has. */
function textOf(entry: Entry, names: readonly string[]): string | undefined {
  const lower = new Map(Object.entries(entry).map(([name, value]) => [name.toLowerCase(), value]));
  for (const name of names) {
    const [value] = [lower.get(name.toLowerCase())].flat();
    const text = storable(Buffer.isBuffer(value) ? value.toString('utf8') : value);
    if (text !== undefined) return text;
  }
  return undefined;
}

const namesOf = ({ attributes, uid }: LdapProvider) => ({
  username: attributes.username ?? ['uid', uid],
  email: attributes.email ?? ['mail'],
  name: attributes.name ?? ['cn'],
});

const accountControl = 'userAccountControl';
const attributesFor = (provider: LdapProvider): string[] => [
  ...new Set([...Object.values(namesOf(provider)).flat(), provider.uid, accountControl]),
];

/** A filter of the operator, with the brackets that it may lack. */
const bracketed = (filter: string | undefined): string =>
  filter === undefined || filter.startsWith('(') ? (filter ?? '') : `(${filter})`;

/** Whether a text is a filter (RFC 4515), with or without brackets. */
export function isFilter(text: string): boolean {
  try {
    FilterParser.parseString(bracketed(text));
    return true;
  } catch {
    return false;
  }
}

const isGone = ({ active_directory }: LdapProvider, entry: Entry): boolean =>
  active_directory && (Number(textOf(entry, [accountControl]) ?? 0) & isDisabledBit) !== 0;

/** The names of the groups of an entry; undefined where there are none to look for. */
async function groupsOf(provider: LdapProvider, client: Client, entry: Entry): Promise<string[] | undefined> {
  if (provider.group_base === undefined) return undefined;
  const { dn } = entry;
  const member = textOf(entry, [provider.uid]) ?? '';
  const filter = provider.active_directory
    ? `(member:${nested}:=${escapeFilter`${dn}`})`
    : escapeFilter`(|(member=${dn})(uniqueMember=${dn})(memberUid=${member}))`;
  const { searchEntries } = await client.search(provider.group_base, {
    ...{ scope: 'sub', filter, attributes: ['cn'], paged: true },
  });
  return searchEntries.map((group) => textOf(group, ['cn'])).filter((name) => name !== undefined);
}

async function statedIn(provider: LdapProvider, client: Client, entry: Entry): Promise<Stated> {
  const names = namesOf(provider);
  const email = textOf(entry, names.email);
  if (storable(entry.dn) === undefined) throw new ProviderError('name of the entry');
  return {
    uid: entry.dn,
    username: textOf(entry, names.username),
    email,
    has_verified_email: provider.trusts_email && email !== undefined,
    name: textOf(entry, names.name),
    groups: await groupsOf(provider, client, entry),
    methods: [],
  };
}

/** Binds as a person. @throws WrongCredentials */
async function bindAs(client: Client, dn: string, password: string): Promise<void> {
  try {
    await client.bind(dn, password);
  } catch (error) {
    throw error instanceof ResultCodeError ? new WrongCredentials() : error;
  }
}

/**
 * Signs somebody in with their name and their password.
 * @throws WrongCredentials, ProviderError for a directory that does not answer
 */
export async function signInByLdap(
  provider: LdapProvider,
  { login, password }: { login: string; password: string },
): Promise<Stated> {
  // A bind without a password succeeds for everybody (RFC 4513, section 5.1.2).
  if (password === '' || storable(login) === undefined || password.includes('\0')) throw new WrongCredentials();
  return withDirectory(provider, async (client) => {
    const filter = `(&(${provider.uid}=${escapeFilter`${login}`})${bracketed(provider.user_filter)})`;
    const options = { scope: 'sub', filter, attributes: attributesFor(provider), sizeLimit: 2 } as const;
    const { searchEntries } = await client.search(provider.base, options);
    const [entry, ...more] = searchEntries;
    if (!entry || more.length > 0 || isGone(provider, entry)) throw new WrongCredentials();
    await bindAs(client, entry.dn, password);
    await bindSelf(provider, client);
    return statedIn(provider, client, entry);
  });
}

/** What a directory says of people whom it has signed in. */
export interface LookedUp {
  uid: string;
  /** Undefined for one who is gone. */
  stated: Stated | undefined;
}

async function lookUpOne(provider: LdapProvider, client: Client, uid: string): Promise<LookedUp> {
  const filter = bracketed(provider.user_filter) || '(objectClass=*)';
  const options = { scope: 'base', filter, attributes: attributesFor(provider) } as const;
  const { searchEntries } = await client.search(uid, options).catch((error: unknown) => {
    if (error instanceof NoSuchObjectError) return { searchEntries: [] };
    throw error;
  });
  const [entry] = searchEntries;
  if (!entry || isGone(provider, entry)) return { uid, stated: undefined };
  return { uid, stated: await statedIn(provider, client, entry) };
}

/**
 * Looks people up by their names in the directory.
 * @throws ProviderError for a directory that does not answer: then nothing is known of anybody
 */
export const lookUp = (provider: LdapProvider, uids: readonly string[]): Promise<LookedUp[]> =>
  withDirectory(provider, async (client) => {
    const found: LookedUp[] = [];
    for (const uid of uids) found.push(await lookUpOne(provider, client, uid));
    return found;
  });

/**
 * Which of some filters somebody passes, and which of them the directory has answered: it may refuse one.
 * @throws ProviderError for a directory that does not answer
 */
export const passedFilters = (
  provider: LdapProvider,
  uid: string,
  filters: readonly string[],
): Promise<{ answered: string[]; passed: string[] }> =>
  withDirectory(provider, async (client) => {
    const [answered, passed]: [string[], string[]] = [[], []];
    for (const filter of filters) {
      const options = { scope: 'base' as const, filter: bracketed(filter), attributes: ['1.1'] };
      const found = await client.search(uid, options).catch((error: unknown) => {
        if (error instanceof NoSuchObjectError) return { searchEntries: [] };
        if (error instanceof ResultCodeError) return undefined;
        throw error;
      });
      if (!found) continue;
      answered.push(filter);
      if (found.searchEntries.length > 0) passed.push(filter);
    }
    return { answered, passed };
  });
