/** Hiding a message, and the manifest for installing the page as an application (docs/reference/appearance.md). */
import { badParam, idIn } from '../../../http/index.ts';
import { dismissalPath, filePage, form, html, ownPath, page, textIn } from '../../../pages/index.ts';
import { cookieHiding } from './cookie_rules.ts';
import { appearanceOf } from './queries.ts';

export const dismissalPage = page(dismissalPath, {
  load: async () => undefined,
  forms: {
    dismiss: {
      anonymous: true,
      async act({ services, reply }, fields) {
        const id = idIn(textIn(fields, 'message_id') ?? '');
        if (id === undefined) throw badParam('message_id', 'is invalid');
        reply.header('set-cookie', cookieHiding(reply.request.headers.cookie, id, services.url));
        return ownPath(fields.to);
      },
    },
  },
  view: (_data, seen) => ({
    title: ['Messages'],
    main: html`<p>A message that you dismiss is not shown in this browser for 30 days.</p>
${form(seen, 'dismiss', { fields: [{ name: 'message_id', label: 'Number of the message', is_required: true }], button: 'Dismiss' })}`,
  }),
});

/** The web app manifest. */
export const manifestPage = filePage('/-/manifest.json', async (call) => {
  const { pwa_name, pwa_short_name, pwa_description, pwa_icon } = await appearanceOf(call);
  const manifest = {
    name: pwa_name || 'Coppice',
    short_name: pwa_short_name || pwa_name || 'Coppice',
    description: pwa_description,
    start_url: '/',
    display: 'browser',
    icons: pwa_icon === null ? [] : [{ src: pwa_icon, sizes: 'any' }],
  };
  return { body: JSON.stringify(manifest), headers: { 'content-type': 'application/manifest+json; charset=utf-8' } };
});
