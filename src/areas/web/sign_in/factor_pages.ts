/** The second factors of the visitor (docs/reference/second_factors.md). */
import { renderSVG } from 'uqr';
import { idIn, notFound, type Values } from '../../../http/index.ts';
import {
  form,
  Html,
  hidden,
  html,
  type PageCall,
  page,
  redirect,
  rows,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import {
  addKey,
  authenticatorLink,
  beginTotp,
  enableTotp,
  type Factors,
  factorsOf,
  inGroups,
  registrationOptions,
  removeFactor,
  renewCodes,
  totpSecretOf,
} from '../../people/second_factors/index.ts';
import { besideMap } from '../declared/definition.ts';
import { browserIn, textIn } from './actions.ts';

const path = '/-/user_settings/two_factor';

/** The secret of an authenticator that is being set up. Whoever finds a session open sees none. */
async function beingSetUp({ services, caller }: PageCall) {
  if (!caller!.session.is_confirmed) return undefined;
  const known = await totpSecretOf(services, services.db, caller!.id);
  if (!known || known.is_enabled) return undefined;
  const link = authenticatorLink(known.secret, caller!.username, services.url);
  return { link, secret: inGroups(known.secret) };
}

const codesView = (codes: readonly string[]): View => ({
  title: ['Recovery codes'],
  main: html`<p>Keep these codes where you find them without your device. Each signs you in once in place of your second factor. They are shown only now.</p>
<ul>${codes.map(
    (code) => html`<li><code>${code}</code></li>
`,
  )}</ul>
<p><a class="button" href="${path}">I have kept them</a></p>`,
});

/** Where to go on after a factor was added: to the recovery codes, if there are new ones. */
const added = (codes: string[] | undefined): View | string => (codes ? codesView(codes) : path);

async function remove({ services, caller }: PageCall, key?: number): Promise<string> {
  await services.db.transaction().execute((tx) => removeFactor(tx, caller!.id, key));
  return path;
}

const keyIn = (fields: Values): number => {
  const id = idIn(textIn(fields, 'key_id'));
  if (id === undefined) throw notFound('Factor');
  return id;
};

type Secret = NonNullable<Awaited<ReturnType<typeof beingSetUp>>>;

/** The picture that authenticators read. It has no text of users but the link. */
const qrCode = (link: string): Html => new Html(renderSVG(link, { ecc: 'M', border: 4 }));

const factorsPage = page(path, {
  signed_in: true,
  without_second_factor: true,
  async load(call) {
    const { services, caller } = call;
    const factors = await factorsOf(services.db, caller!.id);
    const user = { id: caller!.id, username: caller!.username, name: caller!.name };
    return {
      factors,
      secret: await beingSetUp(call),
      newKey: await registrationOptions(services, services.db, user, browserIn(call)),
    };
  },
  forms: {
    set_up: {
      is_sensitive: true,
      async act({ services, caller }) {
        await beginTotp(services, caller!.id);
        return path;
      },
    },
    enable: {
      is_sensitive: true,
      act: async ({ services, caller }, fields) => added(await enableTotp(services, caller!, textIn(fields, 'code'))),
    },
    remove: { is_sensitive: true, act: (call) => remove(call) },
    add_key: {
      is_sensitive: true,
      act: async ({ services, caller, device }, fields) =>
        added(
          await addKey(services, caller!, {
            name: textIn(fields, 'name'),
            is_passkey: textIn(fields, 'kind') !== 'key',
            answer: textIn(fields, 'answer'),
            device,
          }),
        ),
    },
    remove_key: { is_sensitive: true, act: (call, fields) => remove(call, keyIn(fields)) },
    renew_codes: {
      is_sensitive: true,
      act: async ({ services, caller }) => codesView(await renewCodes(services.db, caller!.id)),
    },
  },
  view: ({ factors, secret, newKey }, seen) => {
    const { has_any, codes } = factors;
    const { due } = seen.caller!.session.second_factor;
    return {
      title: ['Second factor'],
      ...(secret ? { is_secret: true } : {}),
      main: html`${due === 'now' && html`<p class="notice" role="status">You must set up a second factor before you go on.</p>`}
${due instanceof Date && html`<p class="notice" role="status">You must set up a second factor before ${time(due.toISOString())}. <a href="/">Later</a></p>`}
<p>${has_any ? 'Your password alone does not sign you in.' : 'With a second factor, a stolen password does not sign anybody in.'} Programs use <a href="/-/user_settings/personal_access_tokens">access tokens</a>.</p>
<h2>Authenticator</h2>
${totpPart(factors, secret, seen)}
<h2>Passkeys and security keys</h2>
${keysPart(factors, newKey, seen)}
${
  has_any &&
  html`<h2>Recovery codes</h2>
<p>${codes} of your codes are left. Each signs you in once in place of your second factor.</p>
${form(seen, 'renew_codes', { button: 'Make new codes', look: 'plain' })}`
}`,
    };
  },
});

function totpPart({ totp }: Factors, secret: Secret | undefined, seen: Seen): Html {
  if (totp && totp.enabled_at !== null)
    return html`<p>Set up ${time(totp.enabled_at)}, ${totp.last_used_at ? ['last used ', time(totp.last_used_at)] : 'never used'}.</p>
${form(seen, 'remove', { button: 'Remove the authenticator', look: 'danger' })}`;
  if (!secret)
    return html`<p>An application on your phone shows a code that changes every half minute.</p>
${form(seen, 'set_up', { button: totp ? 'Go on setting it up' : 'Set up an authenticator', look: 'plain' })}`;
  return html`<p>Read the picture with your application, or type the secret, and enter the code that it shows.</p>
<figure class="qr" role="img" aria-label="The secret as a picture">${qrCode(secret.link)}</figure>
<p>Secret: <code>${secret.secret}</code></p>
<p><a href="${secret.link}">Open in an application on this device</a></p>
${form(seen, 'enable', {
  fields: [{ name: 'code', label: 'Code', is_required: true, autocomplete: 'one-time-code', maximum: 10 }],
  button: 'Enable',
})}`;
}

function keysPart({ keys }: Factors, newKey: string | undefined, seen: Seen): Html {
  const list = rows(
    keys.map(
      ({ id, name, is_passkey, created_at, last_used_at, disabled_at }) =>
        html`<strong>${name}</strong> ${is_passkey ? 'Passkey' : 'Security key'}${disabled_at !== null && html`, <strong>disabled</strong>: its counter went back, as happens when a key is copied`}
<div class="soft">Added ${time(created_at)}, ${last_used_at ? ['last used ', time(last_used_at)] : 'never used'}</div>
${form(seen, 'remove_key', {
  fields: [hidden('key_id', id)],
  button: html`Remove <span class="visually-hidden">${name}</span>`,
  look: 'danger',
  key: id,
})}`,
    ),
    'You have no passkeys or security keys.',
  );
  if (newKey === undefined)
    return html`${list}
<p>Browsers allow keys only at a host name with HTTPS. This server is reached without.</p>`;
  return html`${list}
<h3>Add a key</h3>
${form(seen, 'add_key', {
  fields: [
    {
      name: 'name',
      label: 'Name',
      is_required: true,
      maximum: 255,
      help: 'By which you know it, e.g. the name of the device.',
    },
    {
      name: 'kind',
      label: 'Used',
      kind: 'select',
      options: [
        { value: 'passkey', label: 'As a passkey: in place of the password' },
        { value: 'key', label: 'As a second factor: after the password' },
      ],
    },
  ],
  button: 'Add the key',
  key_request: { kind: 'create', options: newKey },
})}`;
}

export const secondFactorsPage = besideMap('own', 'two_factor', factorsPage);

export const secondFactorsRedirect = redirect('/-/profile/two_factor_auth', () => path);
