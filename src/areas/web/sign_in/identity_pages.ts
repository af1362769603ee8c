/** The accounts at providers that a user has linked to theirs (docs/reference/sign_in_providers.md#linking-identities). */
import { notFound } from '../../../http/index.ts';
import { form, hidden, html, page, rows, textIn } from '../../../pages/index.ts';
import { linkedProviders, providerNamed, unlinkIdentity } from '../../people/providers/index.ts';
import { besideMap } from '../declared/definition.ts';
import { leave } from './provider_pages.ts';
import { originsAway } from './provider_views.ts';

const path = '/-/user_settings/identities';

const ownIdentitiesPage = page(path, {
  signed_in: true,
  async load(call) {
    const { services, caller } = call;
    const linked = await linkedProviders(services.db, caller!.id);
    const { providers } = services.sign_in;
    return {
      linked: linked.map((name) => ({ name, label: providerNamed(services, name)?.label ?? name })),
      others: providers.filter(({ name, type }) => type !== 'ldap' && !linked.includes(name)),
      leads_to: await originsAway(call),
    };
  },
  forms: {
    link: {
      is_sensitive: true,
      async act(call, fields) {
        const provider = providerNamed(call.services, textIn(fields, 'provider'));
        if (!provider || provider.type === 'ldap') throw notFound('Provider');
        return leave(call, provider, { to: path, kept: '' }, call.caller!.id);
      },
    },
    unlink: {
      is_sensitive: true,
      async act({ services, caller }, fields) {
        const name = textIn(fields, 'provider') ?? '';
        await unlinkIdentity(services.db, caller!.id, name, services.sign_in.providers);
        return path;
      },
    },
  },
  view: ({ linked, others, leads_to }, seen) => ({
    title: ['Linked accounts'],
    leads_to,
    main: html`<p>Accounts elsewhere with which you sign in here.</p>
${rows(
  linked.map(
    ({ name, label }) => html`<strong>${label}</strong>
${form(seen, 'unlink', { fields: [hidden('provider', name)], button: `Unlink ${label}`, look: 'danger', key: name })}`,
  ),
  'None is linked.',
)}
<div class="actions">${others.map(({ name, label }) =>
      form(seen, 'link', { fields: [hidden('provider', name)], button: `Link ${label}`, look: 'plain', key: name }),
    )}</div>`,
  }),
});

export const identitiesPage = besideMap('own', 'identities', ownIdentitiesPage);
