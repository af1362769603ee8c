/** Signing in and linking identities by providers that lead the browser away and back (docs/reference/sign_in_providers.md#the-round-trip). */
import type { Device } from '../../../access/index.ts';
import { stranger } from '../../../foundation/actors.ts';
import type { Services } from '../../../http/index.ts';
import {
  type LdapProvider,
  type OidcProvider,
  type OidcRound,
  oidc,
  type Provider,
  ProviderError,
  type SamlProvider,
  type SamlRound,
  type Stated,
  type Surroundings,
  saml,
} from '../../../identity_providers/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { accountFor, linkIdentity } from './account_actions.ts';
import { recordSamlSession, takeMessage, useAssertion } from './message_actions.ts';
import { keepRound, type Round, takeRound } from './round_actions.ts';
import { down, failed, isTrusted, SignInRefused } from './rules.ts';

/** Where this server is for its providers. */
export async function surroundingsOf({ db, url }: Pick<Services, 'db' | 'url'>): Promise<Surroundings> {
  const { allow_local_requests_from_web_hooks_and_services } = await settingsOf(db);
  return { url, may_be_local: allow_local_requests_from_web_hooks_and_services };
}

/** What a provider refuses, as its refusal here. */
export async function refusing<T>({ label }: Provider, doing: Promise<T>): Promise<T> {
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

async function begin(provider: AwayProvider, at: Surroundings): Promise<{ to: URL; round: OidcRound | SamlRound }> {
  return provider.type === 'oidc' ? (await oidc()).beginOidc(provider, at) : (await saml()).beginSaml(provider, at);
}

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
  /** Of the client. */
  address: string;
}

/** What a provider has stated in the end, and where to go on. */
interface Ended extends Omit<Round, 'protocol'> {
  stated: Stated;
  /** By which a provider names the person when they sign out there. */
  name_id?: string | undefined;
}

async function endSamlRound(
  services: Services,
  provider: SamlProvider,
  round: Round | undefined,
  query: string,
): Promise<Ended> {
  const message = await takeMessage(services, provider.name, new URLSearchParams(query).get('handle') ?? '');
  if (!message) throw failed(provider.label, 'no message');
  if (!round && !provider.allow_idp_initiated) throw failed(provider.label, notBegun);
  const at = await surroundingsOf(services);
  const protocol = round?.protocol as SamlRound | undefined;
  const { endSaml } = await saml();
  const stated = await refusing(provider, endSaml(provider, at, message.response, protocol));
  if (!(await useAssertion(services.db, provider.name, stated.assertion)))
    throw failed(provider.label, 'assertion was used before');
  const { name_id } = stated;
  return { stated, name_id, ...(round ?? { to: message.relay, kept: '', links: undefined }) };
}

async function endOidcRound(
  services: Services,
  provider: OidcProvider,
  round: Round | undefined,
  query: string,
): Promise<Ended> {
  if (!round) throw failed(provider.label, notBegun);
  const at = await surroundingsOf(services);
  const { endOidc } = await oidc();
  return { ...round, stated: await refusing(provider, endOidc(provider, at, query, round.protocol as OidcRound)) };
}

const notBegun = 'nothing that this browser has begun';

/** Writes that a sign-in was refused that a browser had begun. Others can be sent without end, and are in the log alone. */
async function auditing<T>({ db }: Services, address: string, has_begun: boolean, doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    if (error instanceof SignInRefused && has_begun) {
      const details = { custom_message: 'Sign-in with a provider refused' };
      await db
        .transaction()
        .execute((tx) =>
          audit(tx, { event_name: 'omniauth_login_failed', entity: 'instance', details }, stranger(address)),
        );
    }
    throw error;
  }
}

/**
 * Ends what a browser has begun.
 * @throws SignInRefused for anything that is not as it has to be, and for an account that may not sign in
 */
export async function comeBack(
  services: Services,
  provider: AwayProvider,
  { handle, visitor_id, query, address }: Return,
): Promise<Returned> {
  const round = await takeRound(services, provider.name, handle);
  const { stated, name_id, to, kept, links } = await auditing(
    services,
    address,
    round !== undefined,
    provider.type === 'oidc'
      ? endOidcRound(services, provider, round, query)
      : endSamlRound(services, provider, round, query),
  );
  if (links === undefined) {
    const user_id = await accountFor(services.db, provider, stated, address);
    await services.followGroups(services, provider, [{ user_id, uid: stated.uid, groups: stated.groups }]);
    if (name_id !== undefined) await recordSamlSession(services.db, provider.name, user_id, name_id);
    const is_strong = isTrusted(provider.trust_second_factor, stated.methods);
    return { user_id, is_strong, going: { to, kept }, has_linked: false };
  }
  if (links !== visitor_id) throw failed(provider.label, 'somebody else is signed in');
  await linkIdentity(services.db, provider, links, stated);
  return { user_id: links, is_strong: false, going: { to, kept }, has_linked: true };
}
