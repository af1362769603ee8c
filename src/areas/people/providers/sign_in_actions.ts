/** Signing in and linking identities by providers that lead the browser away and back (docs/reference/sign_in_providers.md#the-round-trip). */
import type { Device } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import {
  beginOidc,
  endOidc,
  type LdapProvider,
  type OidcProvider,
  type Provider,
  ProviderError,
  type Stated,
  type Surroundings,
} from '../../../identity_providers/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { accountFor, linkIdentity } from './account_actions.ts';
import { keepRound, type Round, takeRound } from './round_actions.ts';
import { down, failed, isTrusted } from './rules.ts';

/** Where this server is for its providers. */
export async function surroundingsOf({ db, url }: Pick<Services, 'db' | 'url'>): Promise<Surroundings> {
  const { allow_local_requests_from_web_hooks_and_services } = await settingsOf(db);
  return { url, may_be_local: allow_local_requests_from_web_hooks_and_services };
}

/** What a provider refuses, as its refusal here. */
async function refusing<T>({ label }: Provider, doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw error.is_down ? down(label, error.reason) : failed(label, error.reason);
  }
}

/** A provider that leads the browser away. */
export type AwayProvider = Exclude<Provider, LdapProvider>;

/** The provider of a name; undefined without one. */
export const providerNamed = ({ sign_in }: Pick<Services, 'sign_in'>, name: string | undefined): Provider | undefined =>
  sign_in.providers.find((provider) => provider.name === name);

/**
 * Begins a sign-in, or linking an identity.
 * @returns where the browser has to go, and the handle for its cookie
 * @throws SignInRefused, ApiError 429
 */
export async function leaveFor(
  services: Services,
  provider: AwayProvider,
  device: Device,
  going: Omit<Round, 'protocol'>,
): Promise<{ to: URL; handle: string }> {
  const { to, round } = await refusing(provider, begin(provider, await surroundingsOf(services)));
  const handle = await keepRound(services, device, provider.name, { ...going, protocol: round });
  return { to, handle };
}

const begin = (provider: AwayProvider, at: Surroundings) => beginOidc(provider as OidcProvider, at);

/** A person who has come back from a provider. */
export interface Returned {
  user_id: number;
  /** Whether nothing else is asked for. */
  is_strong: boolean;
  going: { to: string; kept: string };
  /** Whether they only linked an identity. */
  has_linked: boolean;
}

/** What a browser brings back. */
export interface Return {
  /** The handle of its cookie. */
  handle: string | undefined;
  /** Who is signed in with it. */
  visitor_id: number | undefined;
  /** The query of the address. */
  query: string;
}

/**
 * Ends what a browser has begun.
 * @throws SignInRefused for anything that is not as it has to be, and for an account that may not sign in
 */
export async function comeBack(
  services: Services,
  provider: AwayProvider,
  { handle, visitor_id, query }: Return,
): Promise<Returned> {
  const round = await takeRound(services, provider.name, handle);
  if (!round) throw failed(provider.label, 'nothing that this browser has begun');
  const stated = await refusing(provider, end(services, provider, round, query));
  const { to, kept, links } = round;
  if (links === undefined) {
    const user_id = await accountFor(services.db, provider, stated);
    const is_strong = isTrusted(provider.trust_second_factor, stated.methods);
    return { user_id, is_strong, going: { to, kept }, has_linked: false };
  }
  if (links !== visitor_id) throw failed(provider.label, 'somebody else is signed in');
  await linkIdentity(services.db, provider, links, stated);
  return { user_id: links, is_strong: false, going: { to, kept }, has_linked: true };
}

async function end(services: Services, provider: AwayProvider, { protocol }: Round, query: string): Promise<Stated> {
  return endOidc(provider as OidcProvider, await surroundingsOf(services), query, protocol);
}
