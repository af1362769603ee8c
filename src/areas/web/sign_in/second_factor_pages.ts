/** The second step of signing in, and proving oneself again before something sensitive (docs/reference/sessions.md). */
import type { Visitor } from '../../../access/index.ts';
import { unprocessable, type Values } from '../../../http/index.ts';
import { type Field, form, type Html, html, type PageCall, page, type Seen } from '../../../pages/index.ts';
import {
  authenticationOptions,
  confirmByFactor,
  finishBySecondFactor,
  type GivenFactor,
  hasKeys,
  pendingSignIn,
} from '../../people/second_factors/index.ts';
import { confirmByPassword, pendingCookie, secondFactorPage } from '../../people/sessions/index.ts';
import {
  accountField,
  addCookie,
  browserIn,
  continueSignIn,
  goingIn,
  goOn,
  hiddenFrom,
  textIn,
  wrongPassword,
} from './actions.ts';

const codeField: Field = {
  name: 'code',
  label: 'Code',
  is_required: true,
  autocomplete: 'one-time-code',
  maximum: 40,
  help: 'Of your authenticator, or one of your recovery codes.',
};

/** What a browser needs for a key of a user; undefined without keys. */
const keyOptionsOf = async (call: PageCall, user_id: number): Promise<string | undefined> =>
  (await hasKeys(call.services.db, user_id))
    ? authenticationOptions(call.services, call.services.db, { browser: browserIn(call), user_id })
    : undefined;

/** The forms `code` and `key`. */
const factorForms = (seen: Seen, keyOptions: string | undefined, going: readonly Field[]): Html =>
  html`${
    keyOptions !== undefined &&
    html`${form(seen, 'key', { fields: going, button: 'Use a key', key_request: { kind: 'get', options: keyOptions } })}
<p class="soft">Or with a code:</p>`
  }${form(seen, 'code', { fields: [codeField, ...going], button: 'Go on' })}`;

const factorIn = (fields: Values): GivenFactor =>
  'answer' in fields ? { assertion: textIn(fields, 'answer') } : { code: textIn(fields, 'code') };

const pendingIn = (call: PageCall) => pendingSignIn(call.services.db, call.cookie(pendingCookie));

async function finish(call: PageCall, fields: Values) {
  const pending = await pendingIn(call);
  if (!pending) return '/users/sign_in';
  const signedIn = await finishBySecondFactor(call.services, pending, factorIn(fields), call.device);
  return continueSignIn(call, pending, signedIn);
}

export const secondFactorSignInPage = page(secondFactorPage, {
  async load(call) {
    const pending = await pendingIn(call);
    return { is_pending: pending !== undefined, key: pending && (await keyOptionsOf(call, pending.user_id)) };
  },
  forms: { code: { act: finish, anonymous: true }, key: { act: finish, anonymous: true } },
  view: ({ is_pending, key }, seen) => ({
    title: ['Second factor'],
    main: is_pending
      ? html`<p>Your account has a second factor. Prove that you have it.</p>
${factorForms(seen, key, [])}
<p><a href="/users/sign_in">Sign in as somebody else</a></p>`
      : html`<p>No sign-in waits for a second factor in this browser. It may have taken too long.</p>
<p><a class="button" href="/users/sign_in">Sign in</a></p>`,
  }),
});

async function confirm(call: PageCall, fields: Values, what: string, prove: (visitor: Visitor) => Promise<string>) {
  const cookie = await prove(call.caller!);
  addCookie(call, cookie);
  const session = cookie.split(/[=;]/)[1]!;
  return goOn(call, {
    fields: goingIn(fields),
    session,
    text: `Your ${what} is confirmed. Check the form, and send it once more.`,
  });
}

const confirmFactor = (call: PageCall, fields: Values) =>
  confirm(call, fields, 'second factor', (visitor) =>
    confirmByFactor(call.services, visitor, factorIn(fields), call.device),
  );

export const confirmPasswordPage = page('/users/confirm_password', {
  signed_in: true,
  without_second_factor: true,
  load: async (call) => ({ key: await keyOptionsOf(call, call.caller!.id) }),
  forms: {
    confirm: {
      act: (call, fields) =>
        confirm(call, fields, 'password', (visitor) => {
          // Whoever has a second factor proves that, so that a stolen password opens nothing.
          if (visitor.session.second_factor.has) throw unprocessable('Your account asks for its second factor.');
          const password = textIn(fields, 'password');
          return confirmByPassword(call.services, visitor, password, call.device).catch(wrongPassword);
        }),
    },
    code: { act: confirmFactor },
    key: { act: confirmFactor },
  },
  view: ({ key }, seen) => {
    const going = hiddenFrom(seen.refused?.values ?? seen.query);
    return seen.caller!.session.second_factor.has
      ? {
          title: ['Confirm that it is you'],
          main: html`<p>What comes next is sensitive. Give your second factor once more; it then counts for an hour.</p>
${factorForms(seen, key, going)}`,
        }
      : {
          title: ['Confirm your password'],
          main: html`<p>What comes next is sensitive. Enter your password once more; it then counts for an hour.</p>
${form(seen, 'confirm', {
  fields: [
    accountField(seen.caller!.username),
    { name: 'password', label: 'Password', kind: 'password', is_required: true, autocomplete: 'current-password' },
    ...going,
  ],
  button: 'Confirm',
})}`,
        };
  },
});
