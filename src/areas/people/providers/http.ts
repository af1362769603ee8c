/** The doors of SAML: the message of a provider, and the metadata of this server (docs/reference/sign_in_providers.md#saml). */
import { ApiError, type Caller, type DoorCall, type Doorway, door, notFound } from '../../../http/index.ts';
import { type SamlProvider, saml } from '../../../identity_providers/index.ts';
import { leadTo, pageForm } from '../../../pages/index.ts';
import { signOutByProvider } from './logout_actions.ts';
import { keepMessage } from './message_actions.ts';
import { SignInRefused } from './rules.ts';
import { providerNamed } from './sign_in_actions.ts';

interface OfProvider {
  Params: { provider: string };
}

type Call = DoorCall<Caller, OfProvider>;

/** @throws ApiError 404 for a name that no SAML provider has */
function providerIn({ services, request }: Call): SamlProvider {
  const provider = providerNamed(services, request.params.provider);
  if (provider?.type !== 'saml') throw notFound('Page');
  return provider;
}

const textIn = ({ fields }: Call, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : '';
};

/** Pages of this server only may send forms, but for this one, which changes nothing until the browser fetches it with its cookies. */
async function receive(call: Call) {
  const { services, request, reply } = call;
  const { name } = providerIn(call);
  const message = { response: textIn(call, 'SAMLResponse'), relay: textIn(call, 'RelayState') };
  const handle = await keepMessage(services, request.ip, name, message);
  return leadTo(reply, `/users/auth/${name}/callback?${new URLSearchParams({ handle })}`, 303);
}

/** Signs somebody out whom a SAML provider has signed out. */
async function signOut(call: Call, given: { query: string } | { message: string }, relay: string) {
  const { services, reply } = call;
  const provider = providerIn(call);
  try {
    return leadTo(reply, (await signOutByProvider(services, provider, given, relay)) ?? '/users/sign_in', 303);
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error;
    reply.log.warn({ provider: provider.name, reason: error.reason }, 'sign_in_refused');
    throw new ApiError(error.status, { message: error.message });
  }
}

const queryOf = ({ request }: Call): string => request.url.split('?').slice(1).join('?');

export const providerDoorway: Doorway = {
  cost: 'usual',
  doors: [
    door<Caller, OfProvider>({ method: 'POST', url: '/users/auth/:provider/callback', handle: receive }),
    door<Caller, OfProvider>({
      method: 'GET',
      url: '/users/auth/:provider/slo',
      without_head: true,
      handle: (call) => {
        const query = queryOf(call);
        return signOut(call, { query }, new URLSearchParams(query).get('RelayState') ?? '');
      },
    }),
    door<Caller, OfProvider>({
      method: 'POST',
      url: '/users/auth/:provider/slo',
      handle: (call) => signOut(call, { message: textIn(call, 'SAMLRequest') }, textIn(call, 'RelayState')),
    }),
    door<Caller, OfProvider>({
      method: 'GET',
      url: '/users/auth/:provider/metadata',
      handle: async (call) => {
        const provider = providerIn(call);
        const { samlMetadata } = await saml();
        return call.reply
          .header('content-type', 'application/samlmetadata+xml')
          .send(samlMetadata(provider, call.services.url));
      },
    }),
  ],
  errors: ({ url }) => pageForm({ url }, (reason) => ({ title: 'Not signed in', parts: [reason] })),
};
