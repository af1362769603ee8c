/** Which applications can be registered, and where they may send people (docs/reference/applications.md). Pure functions. */

/** The scopes that applications can have. */
export const applicationScopes = [
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'sudo',
  'openid',
  'profile',
  'email',
] as const;

/** The names in a text of scopes, each once. */
export const scopesIn = (text: string): string[] => [...new Set(text.split(/\s+/).filter((name) => name !== ''))];

const isScope = (name: string): boolean => (applicationScopes as readonly string[]).includes(name);

/** Why the scopes of an application are refused. */
export const scopeReasons = (text: string): string[] =>
  scopesIn(text).every(isScope) ? [] : ["doesn't match configured on the server."];

/** Schemes whose addresses a browser runs, or reads from the computer of its user. */
const forbiddenSchemes = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'file:',
  'blob:',
  'filesystem:',
  'about:',
  'view-source:',
]);

const isOfWeb = (scheme: string): boolean => scheme === 'https:' || scheme === 'http:';

const mostAddresses = 50;
const longestAddress = 2000;

/** The addresses of an application. */
export const addressesIn = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

function addressReason(address: string, confidential: boolean): string | undefined {
  // A browser reads a backslash as a slash, and other characters would not arrive as they are compared.
  if (!/^[\x21-\x7e]+$/.test(address) || /[\\"<>^`{|}]/.test(address)) return 'must be a valid URI.';
  if (!/^[a-z][a-z0-9+.-]*:/i.test(address)) return 'must be an absolute URI.';
  if (!URL.canParse(address)) return 'must be a valid URI.';
  const { protocol, hostname, username, password } = new URL(address);
  if (address.includes('#')) return 'cannot contain a fragment.';
  const isOwnScheme = !isOfWeb(protocol);
  if (forbiddenSchemes.has(protocol) || (isOwnScheme && confidential)) return 'is forbidden by the server.';
  // Pages name the host in a header, where other characters divide what follows.
  if (!isOwnScheme && !/^https?:\/\/[^/]/i.test(address)) return 'must be a valid URI.';
  if (!isOwnScheme && !/^([\w.-]+|\[[\da-f:.]+\])$/.test(hostname)) return 'must be a valid URI.';
  return username === '' && password === '' ? undefined : 'must be a valid URI.';
}

/**
 * Why the addresses of an application are refused.
 * @param confidential whether it can keep a secret: the schemes of other programs are for those that cannot, which run where their users are
 */
export function redirectReasons(text: string, confidential: boolean): string[] {
  const addresses = addressesIn(text);
  if (addresses.length === 0) return ["can't be blank"];
  if (addresses.length > mostAddresses) return [`has more than ${mostAddresses} lines`];
  if (addresses.some(({ length }) => length > longestAddress)) return ['is too long'];
  return [...new Set(addresses.flatMap((address) => addressReason(address, confidential) ?? []))];
}
