/** What the pages that sign people in share: the browser, and where to go on (docs/reference/sessions.md). */
import { browserCookie, newBrowser, visitorOfCookie, type WaitingForm, waitingForm } from '../../../access/index.ts';
import { ApiError, unprocessable, type Values } from '../../../http/index.ts';
import { type Field, hidden, ownPath, type PageCall, type Resumed } from '../../../pages/index.ts';
import { type SignedIn, secondFactorPage } from '../../people/sessions/index.ts';

export const textIn = (fields: Values, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
};

/** The address to open after a sign-in, and a form to be submitted then. */
export const goingIn = (fields: Values) => ({ to: textIn(fields, 'to'), kept: textIn(fields, 'kept') });

export const hiddenFrom = (query: Values): Field[] =>
  Object.entries(goingIn(query)).flatMap(([name, value]) => (value === '' ? [] : [hidden(name, value)]));

/** The account of a password, so that neither browsers nor users confuse it with another one. */
export const accountField = (username: string): Field => ({
  name: 'username',
  label: 'Username',
  value: username,
  autocomplete: 'username',
  is_readonly: true,
});

export function wrongPassword(error: unknown): never {
  throw error instanceof ApiError && error.status === 401 ? unprocessable('The password is wrong.') : error;
}

/** Sets a cookie besides those that the reply sets already. */
export function addCookie({ reply }: PageCall, ...cookies: readonly string[]): void {
  reply.header('set-cookie', [...[reply.getHeader('set-cookie') ?? []].flat().map(String), ...cookies]);
}

/** The id of the browser, which gets one if it has none: challenges of keys are for one browser. */
export function browserIn(call: PageCall): string {
  const known = call.device.browser;
  if (known) return known.id;
  const browser = newBrowser();
  addCookie(call, browserCookie(call.services.url, browser));
  return browser.id;
}

/** The form that was submitted in this browser before the password was requested, if there is one. */
export const waitingIn = ({ services, device }: PageCall, fields: Values): WaitingForm | undefined =>
  waitingForm(services.secrets, device.browser, goingIn(fields));

/**
 * Continues with the pending form, or at the address that the visitor requested.
 * @param session the value of the cookie of the session
 * @param text the text above the form
 */
export async function goOn(
  call: PageCall,
  { fields, session, text }: { fields: Values; session: string; text: string },
): Promise<string | Resumed> {
  const waiting = waitingIn(call, fields);
  const visitor = waiting && (await visitorOfCookie(call.services, session, call.device.address));
  return waiting && visitor ? { ...waiting, visitor, text } : ownPath(fields.to);
}

/** Goes on after a step of signing in: with the second factor, or signed in. */
export async function continueSignIn(
  call: PageCall,
  fields: { to: string; kept: string },
  { cookies, session }: SignedIn,
): Promise<string | Resumed> {
  addCookie(call, ...cookies);
  if (session === undefined) return secondFactorPage;
  return goOn(call, { fields, session, text: 'You are signed in again. Check the form, and send it once more.' });
}
