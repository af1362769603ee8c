/** A foreign OpenID Connect provider, which signs in whoever the test says without asking. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** What the provider states of a person besides `sub`. */
export type Claims = Record<string, unknown>;

export interface OidcPeer {
  issuer: string;
  /** The people of the provider, by `sub`. */
  people: Map<string, Claims>;
  /** Who is signed in there. */
  who: string;
  /** What it is asked, with its method. */
  asked: string[];
  stop(): Promise<void>;
}

/** Starts a server on a free port. */
export async function listening(listener: RequestListener): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const oidcClient = { client_id: 'coppice', client_secret: 'a secret of the provider' };

/**
 * @param url of the server that signs in with it
 * @param names the names that providers of the server have for it
 */
export async function startOidcProvider(url: string, names: readonly string[]): Promise<OidcPeer> {
  let answer: RequestListener = () => {};
  const asked: string[] = [];
  const server = await listening((request, response) => {
    asked.push(`${request.method} ${request.url!.split('?')[0]}`);
    answer(request, response);
  });
  const people: OidcPeer['people'] = new Map();
  const peer = { issuer: server.url, people, who: '', asked, stop: server.stop };
  const provider = new Provider(server.url, {
    clients: [
      {
        ...oidcClient,
        redirect_uris: names.map((name) => `${url}/users/auth/${name}/callback`),
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: {
      profile: ['name', 'preferred_username', 'nickname'],
      email: ['email', 'email_verified'],
      openid: ['sub', 'groups'],
    },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    cookies: { keys: ['of the test'] },
    ttl: { Session: 600, Interaction: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 600 },
  });
  const handle = provider.callback();
  answer = (request, response) => {
    if (request.url!.startsWith('/interaction/'))
      return void provider.interactionFinished(request, response, { login: { accountId: peer.who, remember: false } });
    return void handle(request, response);
  };
  return peer;
}

/** Follows redirects from an address of a provider until one leads to `url`, as a browser does. @returns that address, without its origin */
export async function followTo(url: string, from: string): Promise<string> {
  const cookies = new Map<string, string>();
  for (let address = from; ; ) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${address} answers ${response.status}: ${await response.text()}`);
    address = new URL(location, address).href;
    if (address.startsWith(`${url}/`)) return address.slice(url.length);
  }
}
