/** The accounts at providers that a user has linked to theirs (docs/reference/sign_in_providers.md#linking-identities). */
import { outsideOf } from '../../../access/index.ts';
import { notFound } from '../../../http/index.ts';
import { form, hidden, html, page, rows, textIn } from '../../../pages/index.ts';
import { linkByDirectory, linkedProviders, providerNamed, unlinkIdentity } from '../../people/providers/index.ts';
import { besideMap } from '../declared/definition.ts';
import { credentialsIn, explained, leave } from './provider_pages.ts';
import { fieldsOf, originsAway } from './provider_views.ts';

const path = '/-/user_settings/identities';

const ownIdentitiesPage = page(path, {
  signed_in: true,
  async load(call) {
    const { services, caller } = call;
    const linked = await linkedProviders(services.db, caller!.id);
    const { providers } = services.sign_in;
    return {
      linked: linked.map((name) => ({ name, label: providerNamed(services, name)?.label ?? name })),
      others: providers.filter(({ name }) => !linked.includes(name)),
      leads_to: await originsAway(call),
    };
  },
  forms: {
    link: {
      is_sensitive: true,
      async act(call, fields) {
        const provider = providerNamed(call.services, textIn(fields, 'provider'));
        if (!provider) throw notFound('Provider');
        const { services, device, reply, caller } = call;
        if (provider.type !== 'ldap') return leave(call, provider, { to: path, kept: '' }, caller!.id);
        const outside = outsideOf(reply.request);
        return explained(call, provider, async () => {
          await outside(() => linkByDirectory(services, provider, credentialsIn(fields), device, caller!.id));
          return path;
        });
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
${others.map(
  (provider) => html`${provider.type === 'ldap' && html`<h2>${provider.label}</h2>`}
${form(seen, 'link', {
  fields: [...fieldsOf(provider), hidden('provider', provider.name)],
  button: `Link ${provider.label}`,
  look: 'plain',
  key: provider.name,
})}`,
)}`,
  }),
});

export const identitiesPage = besideMap('own', 'identities', ownIdentitiesPage);
