/** Signing in and out, and passwords (docs/reference/sessions.md). */

import { cookieFor } from '../../../access/index.ts';
import { ApiError, invalid, type Values } from '../../../http/index.ts';
import { form, hidden, html, isTicked, type PageCall, page, type Resumed } from '../../../pages/index.ts';
import { authenticationOptions, signInByPasskey } from '../../people/second_factors/index.ts';
import {
  changePassword,
  choosePassword,
  passwordPage,
  passwordsSignIn,
  resetPassword,
  signIn,
  signOut,
  signUpRules,
  usernameOfLink,
} from '../../people/sessions/index.ts';
import { besideMap } from '../declared/definition.ts';
import { appearanceOf, guidelinesOf } from '../house/queries.ts';
import {
  accountField,
  browserIn,
  continueSignIn,
  goingIn,
  hiddenFrom,
  textIn,
  waitingIn,
  wrongPassword,
} from './actions.ts';
import { originsAway, providersView } from './provider_views.ts';

/** Whether the form is asked for that administrators have where passwords sign nobody else in. */
const isForAdministrators = ({ administrator }: Values): boolean => administrator === '1';

/** Signs in, and continues at the address that the visitor requested. */
async function start(call: PageCall, fields: Values): Promise<string | Resumed> {
  const given = {
    login: textIn(fields, 'login'),
    password: textIn(fields, 'password'),
    is_remembered: isTicked(fields, 'remember'),
    ...goingIn(fields),
  };
  const signedIn = await signIn(call.services, given, call.device).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      throw new ApiError(401, { message: 'The name or the password is wrong.' });
    throw error;
  });
  return continueSignIn(call, goingIn(fields), signedIn);
}

export const signInPage = page('/users/sign_in', {
  load: async (call) => ({
    ...(await appearanceOf(call)),
    description: await guidelinesOf(call, 'description'),
    waits: waitingIn(call, call.query) !== undefined,
    is_open: (await signUpRules(call.services.db)).is_open,
    takes_passwords:
      (isForAdministrators(call.query) && call.services.sign_in.administrators_by_password) ||
      (await passwordsSignIn(call.services.db)),
    passkeys: await authenticationOptions(call.services, call.services.db, { browser: browserIn(call) }),
    providers: call.services.sign_in.providers,
    leads_to: await originsAway(call),
  }),
  forms: {
    sign_in: { act: start, anonymous: true },
    passkey: {
      anonymous: true,
      async act(call, fields) {
        const how = { device: call.device, is_remembered: isTicked(fields, 'remember') };
        return continueSignIn(
          call,
          goingIn(fields),
          await signInByPasskey(call.services, textIn(fields, 'answer'), how),
        );
      },
    },
  },
  view: ({ title, description, logo, waits, is_open, takes_passwords, passkeys, providers, leads_to }, seen) => ({
    title: ['Sign in'],
    leads_to,
    main: html`${logo !== null && html`<p><img src="${logo}" alt="" height="96"></p>`}${title !== '' && html`<p><strong>${title}</strong></p>`}${description}
${waits && html`<p class="notice">Your session has ended. Sign in to go on; what you typed is kept.</p>`}
${
  takes_passwords &&
  form(seen, 'sign_in', {
    fields: [
      { name: 'login', label: 'Username or email address', is_required: true, autocomplete: 'username' },
      { name: 'password', label: 'Password', kind: 'password', is_required: true, autocomplete: 'current-password' },
      { name: 'remember', label: 'Stay signed in', kind: 'checkbox' },
      ...hiddenFrom(seen.refused?.values ?? seen.query),
    ],
    button: 'Sign in',
    ...(isForAdministrators(seen.query) ? { action: `${seen.path}?administrator=1` } : {}),
  })
}
${
  passkeys !== undefined &&
  html`<h2>With a passkey</h2>
${form(seen, 'passkey', {
  fields: [
    { name: 'remember', label: 'Stay signed in', kind: 'checkbox' },
    ...hiddenFrom(seen.refused?.values ?? seen.query),
  ],
  button: 'Use a passkey',
  look: 'plain',
  key_request: { kind: 'get', options: passkeys },
})}`
}
${providersView(seen, providers)}
${takes_passwords && html`<p><a href="/users/password/new">Forgotten your password?</a></p>`}${is_open && html`<p><a href="/users/sign_up">Create an account</a></p>`}`,
  }),
});

export const signOutPage = page('/users/sign_out', {
  without_second_factor: true,
  load: async () => undefined,
  forms: {
    sign_out: {
      anonymous: true,
      async act({ services, caller, reply }) {
        if (caller) await signOut(services.db, caller);
        reply.headers({ 'set-cookie': cookieFor(services.url, undefined), 'clear-site-data': '"cache", "storage"' });
        return '/users/sign_in';
      },
    },
  },
  view: (_data, seen) => ({ title: ['Sign out'], main: html`${form(seen, 'sign_out', { button: 'Sign out' })}` }),
});

export const forgottenPasswordPage = page('/users/password/new', {
  load: async () => undefined,
  forms: {
    reset: {
      anonymous: true,
      async act({ services, device }, fields) {
        const email = textIn(fields, 'email').trim();
        if (email === '') throw invalid({ email: ['is empty'] });
        await resetPassword(services, email, device);
        return '/users/password/new?sent=1';
      },
    },
  },
  view: (_data, seen) => ({
    title: ['Choose a new password'],
    main:
      seen.query.sent === undefined
        ? html`${form(seen, 'reset', {
            fields: [
              {
                name: 'email',
                label: 'Email address of your account',
                kind: 'email',
                is_required: true,
                autocomplete: 'email',
              },
            ],
            button: 'Send a link',
          })}`
        : html`<p class="notice" role="status">If an account has this address, a link to choose a new password is on its way to it.</p>`,
  }),
});

/** The two fields must match, so that a typo does not lock users out. */
function newPasswordIn(fields: Values): string {
  const password = textIn(fields, 'password');
  if (password !== textIn(fields, 'password_confirmation'))
    throw invalid({ password_confirmation: ['is not the same as the new password'] });
  return password;
}

const newPasswordFields = [
  { name: 'password', label: 'New password', kind: 'password', is_required: true, autocomplete: 'new-password' },
  {
    name: 'password_confirmation',
    label: 'New password again',
    kind: 'password',
    is_required: true,
    autocomplete: 'new-password',
  },
] as const;

export const choosePasswordPage = page(passwordPage, {
  load: ({ services, query }) => usernameOfLink(services, textIn(query, 'reset_password_token')),
  forms: {
    choose: {
      anonymous: true,
      async act({ services }, fields) {
        await choosePassword(services, textIn(fields, 'reset_password_token'), newPasswordIn(fields));
        return '/users/sign_in';
      },
    },
  },
  view: (username, seen) => {
    const token = textIn(seen.refused?.values ?? seen.query, 'reset_password_token');
    return {
      title: ['Choose a new password'],
      main: html`${form(seen, 'choose', {
        fields: [
          ...(username === undefined ? [] : [accountField(username)]),
          ...newPasswordFields,
          hidden('reset_password_token', token),
        ],
        button: 'Set the password',
        action: `${passwordPage}?${new URLSearchParams({ reset_password_token: token })}`,
      })}`,
    };
  },
});

const ownPasswordPage = page('/-/user_settings/password/edit', {
  signed_in: true,
  load: async () => undefined,
  forms: {
    change: {
      async act({ services, caller, reply, device }, fields) {
        const given = { current: textIn(fields, 'current_password'), password: newPasswordIn(fields) };
        reply.header('set-cookie', await changePassword(services, caller!, given, device).catch(wrongPassword));
        return '/-/user_settings/active_sessions';
      },
    },
  },
  view: (_data, seen) => ({
    title: ['Password'],
    main: html`<p>All your sessions end when you change your password, and a new one begins in this browser.</p>
${form(seen, 'change', {
  fields: [
    accountField(seen.caller!.username),
    {
      name: 'current_password',
      label: 'Current password',
      kind: 'password',
      is_required: true,
      autocomplete: 'current-password',
    },
    ...newPasswordFields,
  ],
  button: 'Change the password',
})}`,
  }),
});

export const changePasswordPage = besideMap('own', 'password', ownPasswordPage);
