/** Applications in tests, and the parts of what they ask. */
import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import type { Browser } from './browser.ts';
import { type Client, clientOf } from './client.ts';
import { sent } from './sent.ts';
import type { World } from './world.ts';

export const callback = 'https://map.example.com/callback';

export interface TestApplication {
  id: number;
  application_id: string;
  secret: string;
}

/** An application of the instance. @param more parameters of its registration */
export const newApplication = (
  { as }: Pick<World, 'as'>,
  more: Record<string, unknown> = {},
): Promise<TestApplication> =>
  sent(
    as('admin').post('/applications', {
      ...{ name: 'Orchard map', redirect_uri: callback, scopes: 'openid profile email api read_user' },
      ...more,
    }),
  );

/** The doors of OAuth. */
export const oauthOf = ({ url }: Pick<World, 'url'>): Client => clientOf(`${url}/oauth`);

const verifier = 'a-verifier-that-only-tests-know-and-that-is-long-enough';
const challenge = createHash('sha256').update(verifier).digest('base64url');

/** The query with which an application sends a person here. @param change parameters, of which undefined ones are left out */
export function queryOf(application: TestApplication, change: Record<string, string | undefined> = {}): string {
  const parameters: Record<string, string | undefined> = {
    ...{ client_id: application.application_id, redirect_uri: callback, response_type: 'code', state: 'st&te' },
    ...{ scope: 'openid', code_challenge: challenge, code_challenge_method: 'S256', ...change },
  };
  return new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();
}

/** Where the answer to a request leads, with redirects and pages that lead on. */
export function leadsTo({ headers }: { headers: Headers }): URL | undefined {
  const address = headers.get('location') ?? headers.get('refresh')?.replace(/^0; url=/, '');
  return address ? new URL(address, 'https://here.example.com') : undefined;
}

/** The person agrees. @returns where they are sent */
export async function agree(
  browser: Browser,
  query: string,
  user_id: number,
  decision: 'authorize' | 'deny' = 'authorize',
): Promise<URL> {
  const answer = await browser.send(`/oauth/authorize?${query}`, decision, { user_id: String(user_id) });
  return leadsTo(answer)!;
}

/** A code that the person has given. */
export const codeFor = async (browser: Browser, query: string, user_id: number): Promise<string> =>
  (await agree(browser, query, user_id)).searchParams.get('code')!;

/** What an application sends for a code. */
export const exchangeOf = ({ application_id, secret }: TestApplication, code: string) => ({
  grant_type: 'authorization_code',
  ...{ code, redirect_uri: callback, code_verifier: verifier, client_id: application_id, client_secret: secret },
});

/**
 * The library as an application has it. The server is reached at the address of the test, and names its own.
 * @param secret of an application that keeps one
 */
export async function relyingParty(
  { url, services }: Pick<World, 'url' | 'services'>,
  id: string,
  secret?: string,
): Promise<client.Configuration> {
  const customFetch: client.CustomFetch = (address, options) =>
    fetch(address.replace(services.url, url), options as RequestInit);
  const authentication = secret === undefined ? client.None() : client.ClientSecretBasic(secret);
  return client.discovery(new URL(services.url), id, secret, authentication, {
    [client.customFetch]: customFetch,
    execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
  });
}
