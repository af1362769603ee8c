/** The forms of the sign-in page that lead to providers (docs/reference/sign_in_providers.md#pages). */
import type { Values } from '../../../http/index.ts';
import { oidc, type Provider, saml } from '../../../identity_providers/index.ts';
import { type Field, fieldOf, type Html, html, type PageCall, type Seen, type View } from '../../../pages/index.ts';
import { type SignInRefused, surroundingsOf } from '../../people/providers/index.ts';
import { hiddenFrom } from './actions.ts';

/** Where a browser signs in with a provider. */
const pathOf = ({ name }: Pick<Provider, 'name'>): string => `/users/auth/${name}`;

/** The origins of the providers to which a browser is led. */
export async function originsAway({ services }: PageCall): Promise<string[]> {
  const { providers } = services.sign_in;
  if (providers.length === 0) return [];
  const at = await surroundingsOf(services);
  const found = await Promise.all(
    providers.map(async (provider) => {
      if (provider.type === 'ldap') return [];
      return provider.type === 'oidc'
        ? (await oidc()).originsOfOidc(provider, at)
        : (await saml()).originsOfSaml(provider, at);
    }),
  );
  return [...new Set(found.flat())];
}

/** The fields of the form that signs in with a provider. */
export const fieldsOf = ({ type }: Provider): Field[] =>
  type === 'ldap'
    ? [
        { name: 'login', label: 'Name', is_required: true, autocomplete: 'username' },
        { name: 'password', label: 'Password', kind: 'password', is_required: true, autocomplete: 'current-password' },
      ]
    : [];

const formOf = (provider: Provider, going: Values): Html => {
  const { name, label, type } = provider;
  const fields = [...fieldsOf(provider), ...hiddenFrom(going)].map((field) =>
    fieldOf(field, `provider-${name}`, undefined),
  );
  return html`${type === 'ldap' && html`<h2>${label}</h2>`}
<form method="post" action="${pathOf(provider)}" class="${type === 'ldap' ? 'fields' : 'single'}">${fields}<button name="_do" value="sign_in">Sign in with ${label}</button></form>`;
};

/** A form for each provider. */
export function providersView({ refused, query }: Seen, providers: readonly Provider[]): Html[] {
  return providers.map((provider) => formOf(provider, refused?.values ?? query));
}

/** The page of a refusal: one sentence, and the way back. */
export const refusalView = ({ status, message }: SignInRefused): View => ({
  title: [status === 503 ? 'Not reachable' : 'Not signed in'],
  status,
  main: html`<p class="refusal" role="alert">${message}</p><p><a href="/users/sign_in">Back to the sign-in</a></p>`,
});
