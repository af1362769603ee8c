/** Answering requests for tokens (docs/reference/oauth_tokens.md#tokens). */
import { type Outside, refuseTooOften } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { signer } from '../../instance/signing_keys/index.ts';
import type { Client } from '../applications/queries.ts';
import { scopesIn } from '../applications/rules.ts';
import { exchangeCode } from '../oauth_grants/actions.ts';
import { addDevice, tokenForDevice } from '../oauth_grants/device_actions.ts';
import { device_s, shownCode } from '../oauth_grants/device_rules.ts';
import { scopesOf } from '../oauth_grants/rules.ts';
import { type GivenToken, type MadeToken, tokenForPassword, tokenForRefresh } from '../oauth_tokens/actions.ts';
import { invalidScope, refused } from '../oauth_tokens/rules.ts';
import { invalidClient, type Sender, senderOf } from './client_checks.ts';
import { personOf } from './queries.ts';
import { deviceGrant, idTokenClaims, paths } from './rules.ts';

/** A request for a token. */
export interface TokenRequest {
  /** A parameter; empty if it was not sent. */
  parameter(name: string): string;
  sender: Sender;
  /** The client's IP address. */
  address: string;
  /** Waits for a directory. */
  outside: Outside;
}

type Answer = GivenToken & { id_token?: string };

/** The answer with a token, and with an ID token where the application asks who its user is. */
async function answerOf(
  services: Services,
  { given, granted }: MadeToken,
  client: Client | undefined,
  nonce: string | null = null,
): Promise<Answer> {
  const { scopes, user_id, authenticated_at, amr } = granted;
  if (!client || !scopes.includes('openid')) return given;
  const person = await personOf(services, user_id);
  const { access_token } = given;
  const told = { issuer: services.url, audience: client.uid, access_token, scopes, nonce, authenticated_at, amr };
  const sign = await signer(services);
  const id_token = await sign(idTokenClaims(person, { ...told, now_s: Math.floor(Date.now() / 1000) }));
  return { ...given, id_token };
}

async function byCode(services: Services, { parameter, sender }: TokenRequest): Promise<Answer> {
  const client = await senderOf(services, sender);
  if (!client) throw invalidClient();
  const [code, redirect_uri, code_verifier] = [
    parameter('code'),
    parameter('redirect_uri'),
    parameter('code_verifier'),
  ];
  const made = await exchangeCode(services, { code, redirect_uri, code_verifier, application_id: client.id });
  return answerOf(services, made, client, made.nonce);
}

/** The scopes that a request names; undefined for none. */
const scopesAsked = ({ parameter }: TokenRequest): string[] | undefined => {
  const names = scopesIn(parameter('scope'));
  return names.length === 0 ? undefined : names;
};

async function byRefreshToken(services: Services, request: TokenRequest): Promise<Answer> {
  const client = await senderOf(services, request.sender, { mayBeUnknown: true });
  const made = await tokenForRefresh(services, {
    refresh_token: request.parameter('refresh_token'),
    application_id: client?.id ?? null,
    // Tokens without an application have always had all scopes, whatever their client asks for.
    scopes: client && scopesAsked(request),
  });
  return answerOf(services, made, client);
}

/** Without an application, a password gives a token for the API. */
async function byPassword(services: Services, request: TokenRequest): Promise<Answer> {
  const { parameter, sender, address, outside } = request;
  const client = await senderOf(services, sender, { mayBeUnknown: true });
  if (!client && !(await settingsOf(services.db)).ropc_without_client_credentials) throw invalidClient();
  if (client && !client.confidential)
    throw refused('unauthorized_client', 'The client is not authorized to use this grant type.');
  const scopes = client ? scopesOf(client, scopesAsked(request)?.join(' ')) : ['api'];
  if (!scopes) throw invalidScope();
  const [username, password] = [parameter('username'), parameter('password')];
  const application_id = client?.id ?? null;
  const made = await tokenForPassword(services, { username, password, address, outside, application_id, scopes });
  return answerOf(services, made, client);
}

async function byDeviceCode(services: Services, { parameter, sender }: TokenRequest): Promise<Answer> {
  const client = await senderOf(services, sender);
  if (!client) throw invalidClient();
  return answerOf(services, await tokenForDevice(services, client.id, parameter('device_code')), client);
}

const grants: Readonly<Record<string, (services: Services, request: TokenRequest) => Promise<Answer>>> = {
  authorization_code: byCode,
  refresh_token: byRefreshToken,
  password: byPassword,
  [deviceGrant]: byDeviceCode,
};

/**
 * Answers a request for a token.
 * @throws ApiError 400, 401, 429
 */
export async function tokenFor(services: Services, request: TokenRequest): Promise<Answer> {
  const type = request.parameter('grant_type');
  if (type === '') throw refused('invalid_request', 'Missing required parameter: grant_type.');
  const grant = Object.hasOwn(grants, type) ? grants[type] : undefined;
  if (!grant)
    throw refused(
      'unsupported_grant_type',
      'The authorization grant type is not supported by the authorization server.',
    );
  return grant(services, request);
}

/** How many devices an address may let wait in ten minutes. */
const waitingDevices = { name: 'oauth_devices_from_address', most: 50, window_s: 600 };

/**
 * Lets a device without a browser wait for a person.
 * @throws ApiError 400, 401, 429
 */
export async function waitForPerson(services: Services, { parameter, sender, address }: TokenRequest) {
  const client = await senderOf(services, sender);
  if (!client) throw invalidClient();
  const scopes = scopesOf(client, parameter('scope') === '' ? undefined : parameter('scope'));
  if (!scopes) throw invalidScope();
  await refuseTooOften(services.db, { ...waitingDevices, who: address });
  const { device_code, user_code } = await addDevice(services.db, client.id, scopes);
  const verification_uri = services.url + paths.device;
  const shown = shownCode(user_code);
  return {
    ...{ device_code, user_code: shown, verification_uri },
    verification_uri_complete: `${verification_uri}?user_code=${shown}`,
    expires_in: device_s.lasts,
    interval: device_s.interval,
  };
}
