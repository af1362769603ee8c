/** A provider of OpenID Connect that answers as a test says: with tokens that are wrong in one way. */
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { listening } from './oidc_provider.ts';

export interface Forgery {
  /** Changes of claims; `undefined` leaves one out. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Makes the token from its parts, instead of a signature by the key of the provider. */
  sign?(claims: Record<string, unknown>, header: Record<string, unknown>): Promise<string> | string;
  /** Changes of the discovery document, of the answer with the token, and of userinfo. */
  discovery?: Record<string, unknown>;
  token?: Record<string, unknown>;
  userinfo?: Record<string, unknown>;
  /** Writes another answer to a path. */
  answers?: Record<string, { status?: number; headers?: Record<string, string>; body?: string | Iterable<string> }>;
}

const withoutUndefined = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
export const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export interface ForgingProvider {
  issuer: string;
  key: { privateKey: KeyObject; publicKey: KeyObject };
  forgery: Forgery;
  /** How often each path was asked for. */
  asked: Map<string, number>;
  stop(): Promise<void>;
}

/** The query of a callback, for the address to which a sign-in leads. */
export const callbackFor = (away: string): string => {
  const { searchParams } = new URL(away);
  const code = base64({ nonce: searchParams.get('nonce'), challenge: searchParams.get('code_challenge') });
  return new URLSearchParams({ code, state: searchParams.get('state')! }).toString();
};

export async function startForgingProvider(client_id: string): Promise<ForgingProvider> {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...(await exportJWK(key.publicKey)), kid: 'one', use: 'sig', alg: 'RS256' };
  const asked = new Map<string, number>();
  const provider = { issuer: '', key, forgery: {} as Forgery, asked };

  async function tokenFor(fields: URLSearchParams): Promise<object> {
    const { forgery, issuer } = provider;
    const { nonce, challenge } = JSON.parse(Buffer.from(fields.get('code') ?? '', 'base64url').toString());
    const verifier = fields.get('code_verifier') ?? '';
    if (createHash('sha256').update(verifier).digest('base64url') !== challenge) return { error: 'invalid_grant' };
    const now = Math.floor(Date.now() / 1000);
    const usual = {
      iss: issuer,
      sub: 'mallory',
      aud: client_id,
      exp: now + 300,
      iat: now,
      nonce,
      email: 'm@id.example.com',
      name: 'Mallory',
      preferred_username: 'mallory',
      groups: [],
    };
    const claims = withoutUndefined({ ...usual, ...forgery.claims });
    const header = withoutUndefined({ alg: 'RS256', kid: 'one', typ: 'JWT', ...forgery.header });
    const id_token = forgery.sign
      ? await forgery.sign(claims, header)
      : await new SignJWT(claims).setProtectedHeader(header as { alg: string }).sign(key.privateKey);
    return withoutUndefined({ access_token: 'access', token_type: 'Bearer', id_token, ...forgery.token });
  }

  const server = await listening(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const path = request.url!.split('?')[0]!;
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const { forgery, issuer } = provider;
    const other = forgery.answers?.[path];
    if (other) {
      response.writeHead(other.status ?? 200, { 'content-type': 'application/json', ...other.headers });
      for (const part of typeof other.body === 'string' ? [other.body] : (other.body ?? [])) response.write(part);
      return void response.end();
    }
    const documents: Record<string, () => Promise<object> | object> = {
      '/.well-known/openid-configuration': () => ({
        ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
        ...{ jwks_uri: `${issuer}/keys`, userinfo_endpoint: `${issuer}/userinfo`, response_types_supported: ['code'] },
        ...{ subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] },
        ...forgery.discovery,
      }),
      '/keys': () => ({ keys: [jwk] }),
      '/token': () => tokenFor(new URLSearchParams(Buffer.concat(parts).toString())),
      '/userinfo': () => ({ sub: 'mallory', ...forgery.userinfo }),
    };
    const body = await documents[path]?.();
    const status = body === undefined ? 404 : 'error' in body ? 400 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  provider.issuer = server.url;
  return Object.assign(provider, { stop: server.stop });
}
