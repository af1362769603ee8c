/** OpenID Connect: code flow with PKCE (docs/reference/sign_in_providers.md#openid-connect). */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { ask, patience_ms, soon } from './asking.ts';
import { callbackUrl, ProviderError, type Stated, type Surroundings, storable, textsIn } from './definition.ts';
import type { OidcProvider } from './members.ts';

/** What a sign-in has to match when it comes back. */
export interface OidcRound {
  state: string;
  nonce: string;
  verifier: string;
}

/** Signatures with a key that only the provider has. */
const algorithms = ['RS', 'PS', 'ES'].flatMap((kind) => [256, 384, 512].map((bits) => kind + bits));
const allAlgorithms = [...algorithms, 'EdDSA', 'Ed25519'];

const tolerance_s = 60;
/** For how long a discovery document counts. */
const discovered_ms = 3_600_000;

interface Known {
  configuration: Promise<Configuration>;
  until_ms: number;
  may_be_local: boolean;
}

/** The providers of this process: their documents and keys. */
const known = new WeakMap<OidcProvider, Known>();

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fetchFor(provider: OidcProvider, may_be_local: boolean): CustomFetch {
  const named = [provider.issuer, provider.jwks_uri].filter((url) => url !== undefined);
  const own = new Set(named.map((url) => new URL(url).origin));
  return async (url, { method, headers, body, signal }) => {
    const answer = await ask(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body === undefined || body === null ? undefined : String(body),
      own,
      may_be_local,
      signal,
    });
    const isEmpty = [204, 205, 304].includes(answer.status);
    const { 'content-type': type = '', 'www-authenticate': challenge } = answer.headers;
    return new Response(isEmpty ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: { 'content-type': type, ...(challenge === undefined ? {} : { 'www-authenticate': challenge }) },
    });
  };
}

function authenticationOf({ client_secret, client_auth_method }: OidcProvider) {
  if (client_secret === undefined) return None();
  return client_auth_method === 'post' ? ClientSecretPost(client_secret) : ClientSecretBasic(client_secret);
}

async function discover(provider: OidcProvider, may_be_local: boolean): Promise<Configuration> {
  const options = { [customFetch]: fetchFor(provider, may_be_local), timeout: patience_ms / 1000 };
  const isPlain = provider.issuer.startsWith('http:');
  const found = await discovery(new URL(provider.issuer), provider.client_id, undefined, None(), {
    ...options,
    execute: isPlain ? [allowInsecureRequests] : [],
  });
  const { issuer, jwks_uri, supportsPKCE: _, ...metadata } = found.serverMetadata();
  // The library compares parsed addresses, and knows providers whose issuer varies.
  if (issuer !== provider.issuer) throw new ProviderError('issuer of the discovery document');
  const server = {
    ...metadata,
    issuer,
    ...{ id_token_signing_alg_values_supported: allAlgorithms, userinfo_signing_alg_values_supported: allAlgorithms },
    jwks_uri: provider.jwks_uri ?? jwks_uri!,
  };
  const client = { [clockTolerance]: tolerance_s };
  const configuration = new Configuration(server, provider.client_id, client, authenticationOf(provider));
  configuration[customFetch] = options[customFetch];
  configuration.timeout = options.timeout;
  enableNonRepudiationChecks(configuration);
  if (isPlain) allowInsecureRequests(configuration);
  return configuration;
}

/** What is known of a provider. Several sign-ins ask for it once, and a failure is not kept. */
function configurationOf(provider: OidcProvider, { may_be_local }: Surroundings): Promise<Configuration> {
  const before = known.get(provider);
  if (before && before.until_ms > Date.now() && before.may_be_local === may_be_local) return before.configuration;
  const configuration = discover(provider, may_be_local);
  known.set(provider, { configuration, until_ms: Date.now() + discovered_ms, may_be_local });
  configuration.catch(() => known.delete(provider));
  return configuration;
}

/** Why the library has refused something: its own words for the kind of problem and for the claim, never a value. */
function reasonOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { cause?: { claim?: unknown } } };
  const claim = cause?.cause?.claim;
  return [typeof code === 'string' ? code.toLowerCase() : 'refused', typeof claim === 'string' ? claim : '']
    .join(' ')
    .trim();
}

/** Turns what the library throws into a refusal. */
async function refusing<T>(doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    for (let each: unknown = error; each instanceof Error; each = each.cause)
      if (each instanceof ProviderError) throw each;
    if (error instanceof DOMException && error.name === 'TimeoutError')
      throw new ProviderError('no answer in time', true);
    throw new ProviderError(reasonOf(error));
  }
}

/**
 * Begins a sign-in.
 * @returns where to send the browser, and what to keep for its return
 * @throws ProviderError
 */
export async function beginOidc(provider: OidcProvider, at: Surroundings): Promise<{ to: URL; round: OidcRound }> {
  const configuration = await refusing(configurationOf(provider, at));
  const round = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
  const parameters = {
    ...provider.args,
    response_type: 'code',
    redirect_uri: callbackUrl(at.url, provider.name),
    scope: provider.scopes.join(' '),
    state: round.state,
    nonce: round.nonce,
    code_challenge: await calculatePKCECodeChallenge(round.verifier),
    code_challenge_method: 'S256',
  };
  try {
    return { to: buildAuthorizationUrl(configuration, parameters), round };
  } catch (error) {
    throw new ProviderError(reasonOf(error));
  }
}

/** What the library leaves open about an ID token whose signature, issuer, audience, expiry and nonce it has verified. */
function checkToken(idToken: string | undefined, claims: Record<string, unknown>, client_id: string): void {
  const header: unknown = JSON.parse(Buffer.from(idToken?.split('.')[0] ?? '', 'base64url').toString());
  if (!isObject(header) || !allAlgorithms.includes(String(header.alg))) throw new ProviderError('algorithm');
  const isAhead = (time: unknown) => typeof time !== 'number' || time > Date.now() / 1000 + tolerance_s;
  if (isAhead(claims.iat)) throw new ProviderError('iat is ahead');
  if (claims.azp !== undefined && claims.azp !== client_id) throw new ProviderError('azp');
  if (storable(claims.sub) === undefined) throw new ProviderError('sub');
}

const profileClaims = ['name', 'email', 'preferred_username'];

function statedIn(provider: OidcProvider, claims: Record<string, unknown>, token: Record<string, unknown>): Stated {
  const uid = claims[provider.uid_field];
  const isNumber = typeof uid === 'number' && Number.isSafeInteger(uid);
  const text = isNumber ? String(uid) : storable(uid);
  if (text === undefined) throw new ProviderError('uid_field is missing');
  const email = storable(claims.email);
  return {
    uid: text,
    username: storable(claims.preferred_username) ?? storable(claims.nickname),
    email,
    has_verified_email: email !== undefined && claims.email_verified === true,
    name: storable(claims.name),
    groups: textsIn(claims[provider.groups_claim]),
    methods: [...(textsIn(token.amr) ?? []), ...(textsIn(token.acr) ?? [])],
  };
}

/**
 * Ends a sign-in.
 * @param query of the callback, as the browser sent it
 * @throws ProviderError for anything that is not as it has to be
 */
export async function endOidc(
  provider: OidcProvider,
  at: Surroundings,
  query: string,
  { state, nonce, verifier }: OidcRound,
): Promise<Stated> {
  const configuration = await refusing(configurationOf(provider, at));
  const url = new URL(`${callbackUrl(at.url, provider.name)}?${query}`);
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
  const tokens = await refusing(authorizationCodeGrant(configuration, url, checks));
  const token: Record<string, unknown> = { ...tokens.claims() };
  checkToken(tokens.id_token, token, provider.client_id);
  const wanted = [...profileClaims, provider.groups_claim, provider.uid_field];
  if (!configuration.serverMetadata().userinfo_endpoint || wanted.every((claim) => token[claim] !== undefined))
    return statedIn(provider, token, token);
  const more = await refusing(fetchUserInfo(configuration, tokens.access_token, String(token.sub)));
  // An address counts as verified only where it is stated.
  const { email_verified: _, ...withoutEmail } = more;
  return statedIn(provider, { ...(token.email === undefined ? more : withoutEmail), ...token }, token);
}

/** The origins to which a sign-in leads a browser, as far as they are known. */
export async function originsOfOidc(provider: OidcProvider, at: Surroundings): Promise<string[]> {
  const own = new URL(provider.issuer).origin;
  const found = await soon(provider, configurationOf(provider, at));
  const endpoint = URL.parse(found?.serverMetadata().authorization_endpoint ?? '');
  return endpoint && endpoint.origin !== own ? [own, endpoint.origin] : [own];
}
