/** The addresses at which providers sign people in (docs/reference/sign_in_providers.md#pages). */
import { cookieWith, outsideOf } from '../../../access/index.ts';
import { notFound, type Values } from '../../../http/index.ts';
import { form, html, ownPath, type PageCall, page, type Resumed, redirect, type View } from '../../../pages/index.ts';
import {
  type AwayProvider,
  away_minutes,
  comeBack,
  leaveFor,
  providerNamed,
  type Returned,
  SignInRefused,
  signInByDirectory,
} from '../../people/providers/index.ts';
import { finishSignIn } from '../../people/sessions/index.ts';
import { addCookie, continueSignIn, goingIn, hiddenFrom, textIn } from './actions.ts';
import { fieldsOf, originsAway, refusalView } from './provider_views.ts';

const cookie = 'coppice-provider';

/** @throws ApiError 404 for a name that no provider has */
function providerIn({ services, params }: PageCall) {
  const provider = providerNamed(services, params.provider);
  if (!provider) throw notFound('Page');
  return provider;
}

/** Shows why somebody is not signed in, and writes it into the log. */
export async function explained<T>(
  { reply }: PageCall,
  provider: { name: string },
  doing: () => Promise<T>,
): Promise<T | View> {
  try {
    return await doing();
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error;
    reply.log.warn({ provider: provider.name, reason: error.reason }, 'sign_in_refused');
    return refusalView(error);
  }
}

/** Leads the browser to a provider, to sign in or to link an identity. @param links the user who links one */
export async function leave(
  call: PageCall,
  provider: AwayProvider,
  going: { to: string; kept: string },
  links?: number,
): Promise<URL | View> {
  return explained(call, provider, async () => {
    const { to, handle } = await leaveFor(call.services, provider, call.device, { ...going, links });
    addCookie(call, cookieWith(call.services.url, cookie, handle, away_minutes * 60));
    return to;
  });
}

/** What is typed for a directory. */
export const credentialsIn = (fields: Values) => ({
  login: textIn(fields, 'login'),
  password: textIn(fields, 'password'),
});

async function signIn(call: PageCall, fields: Values): Promise<string | URL | View | Resumed> {
  const provider = providerIn(call);
  if (provider.type !== 'ldap') return leave(call, provider, goingIn(fields));
  const { services, device, reply } = call;
  const given = credentialsIn(fields);
  return explained(call, provider, async () => {
    const outside = outsideOf(reply.request);
    const user_id = await outside(() => signInByDirectory(services, provider, given, device));
    return goOn(call, { user_id, is_strong: false, going: goingIn(fields), has_linked: false }, ['pwd']);
  });
}

/** Goes on with somebody whom a provider has signed in. */
async function goOn(
  call: PageCall,
  { user_id, is_strong, going, has_linked }: Returned,
  methods: readonly string[] = ['fed'],
): Promise<string | Resumed> {
  if (has_linked) return ownPath(going.to);
  const { services, device } = call;
  const strong = is_strong ? ({ is_strong } as const) : {};
  const signedIn = await finishSignIn(services, {
    user_id,
    methods,
    is_remembered: false,
    device,
    going,
    is_audited: true,
    ...strong,
  });
  return continueSignIn(call, going, signedIn);
}

const callbackPage = redirect('/users/auth/:provider/callback', async (call) => {
  const provider = providerIn(call);
  if (provider.type === 'ldap') throw notFound('Page');
  const { services, caller, reply } = call;
  const handle = call.cookie(cookie);
  addCookie(call, cookieWith(services.url, cookie, '', 0));
  const query = reply.request.url.split('?').slice(1).join('?');
  return explained(call, provider, async () =>
    goOn(
      call,
      await comeBack(services, provider, { handle, visitor_id: caller?.id, query, address: call.device.address }),
    ),
  );
});

/** Signing in changes something, so that an address does not: only a form of a page here leads to a provider. */
const signInWithPage = page('/users/auth/:provider', {
  async load(call) {
    if (call.reply.request.method !== 'POST') throw notFound('Page');
    return { provider: providerIn(call), leads_to: await originsAway(call) };
  },
  forms: { sign_in: { is_usual: true, anonymous: true, act: signIn } },
  view: ({ provider, leads_to }, seen) => ({
    title: ['Sign in'],
    leads_to,
    main: html`${form(seen, 'sign_in', {
      fields: [...fieldsOf(provider), ...hiddenFrom(seen.refused?.values ?? {})],
      button: `Sign in with ${provider.label}`,
    })}<p><a href="/users/sign_in">Back to the sign-in</a></p>`,
  }),
});

export const providerPages = [callbackPage, signInWithPage];
