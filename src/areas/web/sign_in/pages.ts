/** Signing in and out, and passwords (docs/reference/sessions.md). */

import { visitorOfCookie, type WaitingForm, waitingForm } from '../../../access/index.ts';
import { ApiError, invalid, unprocessable, type Values } from '../../../http/index.ts';
import {
  type Field,
  form,
  hidden,
  html,
  isTicked,
  ownPath,
  type PageCall,
  page,
  type Resumed,
} from '../../../pages/index.ts';
import {
  changePassword,
  choosePassword,
  confirmSession,
  cookieFor,
  endSession,
  passwordPage,
  resetPassword,
  signIn,
  signUpRules,
  usernameOfLink,
} from '../../people/sessions/index.ts';
import { besideMap } from '../declared/definition.ts';
import { appearanceOf, guidelinesOf } from '../house/queries.ts';

const textIn = (fields: Values, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
};

/** The address to open after a sign-in, and a form to be submitted then. */
const going = ['to', 'kept'] as const;
const hiddenFrom = (query: Values) =>
  going.flatMap((name) =>
    textIn(query, name) === '' ? [] : [{ name, label: '', kind: 'hidden' as const, value: textIn(query, name) }],
  );

/** The account of a password, so that neither browsers nor users confuse it with another one. */
const accountField = (username: string): Field => ({
  name: 'username',
  label: 'Username',
  value: username,
  autocomplete: 'username',
  is_readonly: true,
});

/** The form that was submitted in this browser before the password was requested, if there is one. */
const waitingIn = ({ services, device }: PageCall, fields: Values): WaitingForm | undefined =>
  waitingForm(services.secrets, device.browser, { to: textIn(fields, 'to'), kept: textIn(fields, 'kept') });

/**
 * Continues with a new cookie: with the pending form, or at the address that the visitor requested. @param text the
 * text above the form
 */
async function goOn(call: PageCall, fields: Values, cookie: string, text: string): Promise<string | Resumed> {
  call.reply.header('set-cookie', cookie);
  const waiting = waitingIn(call, fields);
  const visitor = waiting && (await visitorOfCookie(call.services, cookie.split(/[=;]/)[1]!, call.device.address));
  return waiting && visitor ? { ...waiting, visitor, text } : ownPath(fields.to);
}

/** Signs in, and continues at the address that the visitor requested. */
async function start(call: PageCall, fields: Values): Promise<string | Resumed> {
  const login = textIn(fields, 'login');
  const password = textIn(fields, 'password');
  const cookies = await signIn(
    call.services,
    { login, password, is_remembered: isTicked(fields, 'remember') },
    call.device,
  ).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      throw new ApiError(401, { message: 'The name or the password is wrong.' });
    throw error;
  });
  call.reply.header('set-cookie', cookies.browser);
  return goOn(call, fields, cookies.session, 'You are signed in again. Check the form, and send it once more.');
}

export const signInPage = page('/users/sign_in', {
  load: async (call) => ({
    ...(await appearanceOf(call)),
    description: await guidelinesOf(call, 'description'),
    waits: waitingIn(call, call.query) !== undefined,
    is_open: (await signUpRules(call.services.db)).is_open,
  }),
  forms: { sign_in: { act: start, anonymous: true } },
  view: ({ title, description, logo, waits, is_open }, seen) => ({
    title: ['Sign in'],
    main: html`${logo !== null && html`<p><img src="${logo}" alt="" height="96"></p>`}${title !== '' && html`<p><strong>${title}</strong></p>`}${description}
${waits && html`<p class="notice">Your session has ended. Sign in to go on; what you typed is kept.</p>`}
${form(seen, 'sign_in', {
  fields: [
    { name: 'login', label: 'Username or email address', is_required: true, autocomplete: 'username' },
    { name: 'password', label: 'Password', kind: 'password', is_required: true, autocomplete: 'current-password' },
    { name: 'remember', label: 'Stay signed in', kind: 'checkbox' },
    ...hiddenFrom(seen.refused?.values ?? seen.query),
  ],
  button: 'Sign in',
})}
<p><a href="/users/password/new">Forgotten your password?</a></p>${is_open && html`<p><a href="/users/sign_up">Create an account</a></p>`}`,
  }),
});

export const signOutPage = page('/users/sign_out', {
  load: async () => undefined,
  forms: {
    sign_out: {
      anonymous: true,
      async act({ services, caller, reply }) {
        if (caller) await endSession(services.db, caller.id, caller.session.id);
        reply.headers({ 'set-cookie': cookieFor(services.url, undefined), 'clear-site-data': '"cache", "storage"' });
        return '/users/sign_in';
      },
    },
  },
  view: (_data, seen) => ({ title: ['Sign out'], main: html`${form(seen, 'sign_out', { button: 'Sign out' })}` }),
});

export const confirmPasswordPage = page('/users/confirm_password', {
  signed_in: true,
  load: async () => undefined,
  forms: {
    confirm: {
      async act(call, fields) {
        const { services, caller, device } = call;
        const password = textIn(fields, 'password');
        const cookie = await confirmSession(services, caller!, password, device).catch(wrongPassword);
        return goOn(call, fields, cookie, 'Your password is confirmed. Check the form, and send it once more.');
      },
    },
  },
  view: (_data, seen) => ({
    title: ['Confirm your password'],
    main: html`<p>What comes next is sensitive. Enter your password once more; it then counts for an hour.</p>
${form(seen, 'confirm', {
  fields: [
    accountField(seen.caller!.username),
    { name: 'password', label: 'Password', kind: 'password', is_required: true, autocomplete: 'current-password' },
    ...hiddenFrom(seen.refused?.values ?? seen.query),
  ],
  button: 'Confirm',
})}`,
  }),
});

function wrongPassword(error: unknown): never {
  throw error instanceof ApiError && error.status === 401 ? unprocessable('The password is wrong.') : error;
}

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
