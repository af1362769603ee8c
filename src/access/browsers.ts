/**
 * Browsers that were here before, by a cookie that only this server can make (docs/reference/sessions.md#known-browsers): one in which an account has signed in is not locked
 * out by the guesses of others, and what was typed comes back only in the browser in which it was typed.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../services/index.ts';

type Secrets = Services['secrets'];

/** What the cookie of a browser says. */
export interface Browser {
  /** Random, and known to this browser alone. */
  id: string;
  /** What proves that accounts have signed in here, the last one first. They do not say which accounts. */
  marks: readonly string[];
}

/** Where a request comes from. */
export interface Device {
  address: string;
  user_agent: string | undefined;
  browser: Browser | undefined;
}

/** So many people may take turns at one computer. */
const mostMarks = 5;
/** Browsers keep no cookie for longer. */
const lasts_s = 400 * 24 * 3600;

/** Over HTTPS, browsers take it from this host alone, and never send it in the clear. */
const nameOf = (url: string): string => (url.startsWith('https:') ? '__Host-coppice-browser' : 'coppice-browser');

/** The value of a cookie of a request; undefined without one. */
export function cookieNamed({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const pair = headers.cookie?.split(';').find((text) => text.trimStart().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}

/** The browser of a request; undefined for one that was not here before. */
function browserOf(request: Pick<FastifyRequest, 'headers'>, url: string): Browser | undefined {
  const value = cookieNamed(request, nameOf(url)) ?? '';
  if (!/^[\w-]{22}(\.[\w-]{22}){0,5}$/.test(value)) return undefined;
  const [id = '', ...marks] = value.split('.');
  return { id, marks };
}

/** Where a request comes from. @param url the external address of the server */
export const deviceOf = (request: FastifyRequest, url: string): Device => ({
  address: request.ip,
  user_agent: request.headers['user-agent'],
  browser: browserOf(request, url),
});

export const newBrowser = (): Browser => ({ id: randomBytes(16).toString('base64url'), marks: [] });

/** The `Set-Cookie` of a browser. */
export const browserCookie = (url: string, { id, marks }: Browser): string =>
  `${nameOf(url)}=${[id, ...marks].join('.')}; Path=/; HttpOnly; SameSite=Lax${url.startsWith('https:') ? '; Secure' : ''}; Max-Age=${lasts_s}`;

/** What proves that this server tied something to a browser. */
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

/** A browser in which a user has just signed in. @param before the browser as it was; one without a cookie is a new one */
export function knownTo(secrets: Secrets, before: Browser | undefined, user_id: number): Browser {
  const browser = before ?? newBrowser();
  const own = markOfUser(secrets, browser, user_id);
  return { ...browser, marks: [own, ...browser.marks.filter((mark) => mark !== own)].slice(0, mostMarks) };
}

/** A form that waits for a password. */
export interface WaitingForm {
  /** The address of its page, with its query. */
  to: string;
  form: string;
  values: Record<string, unknown>;
}

const subjectOf = ({ to, form, values }: WaitingForm): string => `form ${JSON.stringify([to, form, values])}`;

/** A form as a text that travels through the page that asks for the password. */
export const keptForm = (secrets: Secrets, browser: Browser, waiting: WaitingForm): string =>
  JSON.stringify({ form: waiting.form, values: waiting.values, mark: markOf(secrets, browser, subjectOf(waiting)) });

/**
 * The form that waits, if it was sent in the same browser: a link of somebody else's cannot bring one along.
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
