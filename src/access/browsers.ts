/**
 * Recognises returning browsers by a cookie that only this server can make (docs/reference/sessions.md#known-browsers). A browser in which an account has signed in
 * is not locked out by the guesses of others, and typed form values return only to the browser in which they were typed.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../services/index.ts';
import { cookieOf, cookieWith } from './cookies.ts';

type Secrets = Services['secrets'];

/** The content of a browser's cookie. */
export interface Browser {
  /** A random value, known only to this browser. */
  id: string;
  /** Proofs of the accounts that have signed in here, newest first. They do not reveal the accounts. */
  marks: readonly string[];
}

/** The origin of a request. */
export interface Device {
  address: string;
  user_agent: string | undefined;
  browser: Browser | undefined;
}

/** The maximum number of accounts remembered for a shared computer. */
const mostMarks = 5;
/** Browsers limit the lifetime of a cookie to this. */
const lasts_s = 400 * 24 * 3600;

const cookie = 'coppice-browser';

/** The browser of a request; undefined without a valid cookie. */
function browserOf(request: Pick<FastifyRequest, 'headers'>, url: string): Browser | undefined {
  const value = cookieOf(request, url, cookie) ?? '';
  if (!/^[\w-]{22}(\.[\w-]{22}){0,5}$/.test(value)) return undefined;
  const [id = '', ...marks] = value.split('.');
  return { id, marks };
}

/** The origin of a request. @param url the external address of the server */
export const deviceOf = (request: FastifyRequest, url: string): Device => ({
  address: request.ip,
  user_agent: request.headers['user-agent'],
  browser: browserOf(request, url),
});

export const newBrowser = (): Browser => ({ id: randomBytes(16).toString('base64url'), marks: [] });

/** The `Set-Cookie` of a browser. */
export const browserCookie = (url: string, { id, marks }: Browser): string =>
  cookieWith(url, cookie, [id, ...marks].join('.'), lasts_s);

/** A proof that this server bound a value to a browser. */
const markOf = (secrets: Secrets, { id }: Browser, subject: string): string =>
  createHmac('sha256', secrets.keyFor('browser'))
    .update(`${id} ${subject}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url');

const isSame = (given: string, mark: string): boolean =>
  given.length === mark.length && timingSafeEqual(Buffer.from(given), Buffer.from(mark));

const markOfUser = (secrets: Secrets, browser: Browser, user_id: number) => markOf(secrets, browser, `user ${user_id}`);

/** Whether a user has signed in with a browser before. */
export function isKnownTo(secrets: Secrets, browser: Browser | undefined, user_id: number): browser is Browser {
  if (!browser) return false;
  const own = markOfUser(secrets, browser, user_id);
  return browser.marks.some((mark) => isSame(mark, own));
}

/** The browser after a user has signed in. @param before the browser before that; one without a cookie counts as new */
export function knownTo(secrets: Secrets, before: Browser | undefined, user_id: number): Browser {
  const browser = before ?? newBrowser();
  const own = markOfUser(secrets, browser, user_id);
  return { ...browser, marks: [own, ...browser.marks.filter((mark) => mark !== own)].slice(0, mostMarks) };
}

/** A form that waits until the user has entered their password. */
export interface WaitingForm {
  /** The address of its page, with its query. */
  to: string;
  form: string;
  values: Record<string, unknown>;
}

const subjectOf = ({ to, form, values }: WaitingForm): string => `form ${JSON.stringify([to, form, values])}`;

/** Serialises a form, to be sent through the page that asks for the password. */
export const keptForm = (secrets: Secrets, browser: Browser, waiting: WaitingForm): string =>
  JSON.stringify({ form: waiting.form, values: waiting.values, mark: markOf(secrets, browser, subjectOf(waiting)) });

/**
 * The waiting form, if it was sent in the same browser: a link from another person cannot inject one.
 * @param kept the text of `keptForm`, or anything else
 */
export function waitingForm(
  secrets: Secrets,
  browser: Browser | undefined,
  { to, kept }: { to: string; kept: string },
): WaitingForm | undefined {
  if (!browser) return undefined;
  try {
    const { form, values, mark } = JSON.parse(kept);
    const waiting = { to, form, values };
    return typeof mark === 'string' && isSame(mark, markOf(secrets, browser, subjectOf(waiting))) ? waiting : undefined;
  } catch {
    return undefined;
  }
}
