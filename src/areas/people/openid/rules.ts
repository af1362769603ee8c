/** What this server says about itself and about people to applications (docs/reference/oauth_tokens.md#openid-connect). Pure functions. */
import { hash } from 'node:crypto';
import { algorithm } from '../../instance/signing_keys/index.ts';
import { applicationScopes } from '../applications/rules.ts';

/** The addresses of the doors. */
export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  info: '/oauth/token/info',
  userinfo: '/oauth/userinfo',
  keys: '/oauth/discovery/keys',
  authorize_device: '/oauth/authorize_device',
  device: '/oauth/device',
} as const;

/** The name of the grant of devices (RFC 8628, 3.4). */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** The names of the claims about groups with a role. */
const claimOfRole = {
  owner: 'https://gitlab.org/claims/groups/owner',
  maintainer: 'https://gitlab.org/claims/groups/maintainer',
  developer: 'https://gitlab.org/claims/groups/developer',
} as const;

/** What the server says about itself (OpenID Connect Discovery 1.0, RFC 8414). @param url its external address */
export const configurationOf = (url: string) => ({
  issuer: url,
  authorization_endpoint: url + paths.authorize,
  token_endpoint: url + paths.token,
  revocation_endpoint: url + paths.revoke,
  introspection_endpoint: url + paths.introspect,
  device_authorization_endpoint: url + paths.authorize_device,
  userinfo_endpoint: url + paths.userinfo,
  jwks_uri: url + paths.keys,
  scopes_supported: applicationScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'password', deviceGrant],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  code_challenge_methods_supported: ['S256'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [algorithm],
  claim_types_supported: ['normal'],
  claims_supported: [
    ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'amr', 'at_hash'],
    ...['name', 'nickname', 'preferred_username', 'profile', 'picture', 'website', 'email', 'email_verified'],
    ...['groups', 'groups_direct', ...Object.values(claimOfRole)],
  ],
  prompt_values_supported: ['none', 'login', 'consent'],
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  authorization_response_iss_parameter_supported: true,
});

/** A group of a person. */
export interface OwnGroup {
  full_path: string;
  access_level: number;
  /** Whether they are a member of the group itself. */
  is_direct: boolean;
}

/** What is told of a person. */
export interface Person {
  id: number;
  username: string;
  name: string;
  email: string;
  email_verified: boolean;
  public_email: string;
  website_url: string;
  /** The address of their page. */
  profile: string;
  /** The address of their picture; null without one. */
  picture: string | null;
  groups: readonly OwnGroup[];
}

const roleLevels = { owner: 50, maintainer: 40, developer: 30 } as const;

const direct = (groups: readonly OwnGroup[]) =>
  groups.filter(({ is_direct }) => is_direct).map(({ full_path }) => full_path);

/** The groups with a role; none is left out. */
function groupsByRole(groups: readonly OwnGroup[]): Record<string, string[]> {
  const of = (role: keyof typeof roleLevels) =>
    groups.filter(({ access_level }) => access_level === roleLevels[role]).map(({ full_path }) => full_path);
  const named = (['owner', 'maintainer', 'developer'] as const).map((role) => [claimOfRole[role], of(role)] as const);
  return Object.fromEntries(named.filter(([, paths_of_role]) => paths_of_role.length > 0));
}

/** What an application with these scopes learns of a person when it asks. */
export function userinfoOf(person: Person, scopes: readonly string[]) {
  const { id, name, username, profile, picture, website_url, groups } = person;
  const hasAddress = scopes.includes('email');
  const address = hasAddress
    ? { email: person.email, email_verified: person.email_verified }
    : person.public_email !== '' && { email: person.public_email, email_verified: true };
  return {
    sub: String(id),
    ...(scopes.includes('profile') && {
      ...{ name, nickname: username, preferred_username: username, profile },
      ...(picture !== null && { picture }),
      ...(website_url !== '' && { website: website_url }),
    }),
    ...address,
    groups: groups.map(({ full_path }) => full_path),
    groups_direct: direct(groups),
    ...groupsByRole(groups),
  };
}

const idToken_s = 120;

/** A token as its ID token tells of it. */
export interface Told {
  issuer: string;
  /** The `client_id` of the application. */
  audience: string;
  access_token: string;
  scopes: readonly string[];
  nonce: string | null;
  authenticated_at: string | null;
  amr: readonly string[] | null;
  now_s: number;
}

/** The first half of the digest of an access token, which ties the ID token to it (Core 3.1.3.6). */
const halfDigest = (access_token: string): string =>
  hash('sha256', access_token, 'buffer').subarray(0, 16).toString('base64url');

/** The claims of an ID token (Core 2). */
export function idTokenClaims(person: Person, told: Told) {
  const { issuer, audience, access_token, scopes, nonce, authenticated_at, amr, now_s } = told;
  return {
    iss: issuer,
    sub: String(person.id),
    aud: audience,
    exp: now_s + idToken_s,
    iat: now_s,
    ...(authenticated_at !== null && { auth_time: Math.floor(Date.parse(authenticated_at) / 1000) }),
    ...(nonce !== null && { nonce }),
    ...(amr !== null && { amr: [...amr] }),
    at_hash: halfDigest(access_token),
    ...(scopes.includes('email') && { email: person.email, email_verified: person.email_verified }),
    groups_direct: direct(person.groups),
  };
}

/** The credentials of a client in the header of a request, each encoded as in a form (RFC 6749, 2.3.1). Undefined for what is none. */
export function basicCredentials(authorization: string | undefined): { id: string; secret: string } | undefined {
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const decoded = (text: string) => new URLSearchParams(`a=${text.replaceAll('&', '%26')}`).get('a') ?? '';
  return { id: decoded(id), secret: decoded(secret) };
}
