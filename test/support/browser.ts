/** A browser in tests: signs in with the form that people use, keeps the cookie, and sends forms. */
import assert from 'node:assert/strict';
import { formsIn, sentBy } from './html_tree.ts';
import type { Person } from './populate.ts';
import type { World } from './world.ts';

/** The response for a page. */
export interface Shown {
  status: number;
  headers: Headers;
  /** The target of a redirect: its path and query. */
  to: string | undefined;
  html: string;
}

export interface Browser {
  /** @param path with its query, e.g. `/group/project/-/issues?page=2` */
  get(path: string, headers?: Record<string, string>): Promise<Shown>;
  /** Sends a form of a page. A list is sent as fields of the same name. */
  send(path: string, form: string, fields?: Record<string, string | readonly string[]>): Promise<Shown>;
  /** Sends a form with files. */
  sendFiles(path: string, form: string, fields: FormData): Promise<Shown>;
}

function pathOf(location: string | null, base: string): string | undefined {
  if (location === null) return undefined;
  const { pathname, search, hash } = new URL(location, base);
  return pathname + search + hash;
}

/** @returns a browser of someone who is not signed in @param own headers that each of its requests has */
export function anonymousBrowser(url: string, own: Record<string, string> = {}): Browser {
  const cookies = new Map<string, string>();
  const ask = async (path: string, init: RequestInit): Promise<Shown> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    // Compressing pages, and the reverse, would take a sixth of the time of tests.
    const headers = {
      accept: 'text/html',
      'accept-encoding': 'identity',
      ...own,
      ...init.headers,
      ...(cookie === '' ? {} : { cookie }),
    };
    const response = await fetch(url + path, { ...init, redirect: 'manual', headers });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const to = pathOf(response.headers.get('location'), url);
    return { status: response.status, headers: response.headers, to, html: await response.text() };
  };
  return {
    get: (path, headers = {}) => ask(path, { headers }),
    send(path, form, fields = {}) {
      const body = new URLSearchParams({ _do: form });
      for (const [name, value] of Object.entries(fields))
        for (const each of [value].flat()) body.append(name, String(each));
      return ask(path, { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } });
    },
    sendFiles(path, form, body) {
      body.set('_do', form);
      return ask(path, { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } });
    },
  };
}

/** Of those who sign in. */
export const password = 'a word that only tests pass';

/** Lets people sign in whose tests share an address with others, of which it allows fifty in ten minutes. */
export const allowSignIns = ({ db }: Pick<World, 'db'>) =>
  db.deleteFrom('request_counts').where('name', '=', 'password_guesses_from_address').execute();

/** @returns a browser in which a person has signed in */
export async function browserOf(
  { url, as, db }: World,
  { id, username }: Pick<Person, 'id' | 'username'>,
): Promise<Browser> {
  const set = await as('admin').put(`/users/${id}`, { password });
  assert.equal(set.status, 200);
  await allowSignIns({ db });
  const browser = anonymousBrowser(url);
  const { status } = await browser.send('/users/sign_in', 'sign_in', { login: username, password });
  assert.equal(status, 303);
  return browser;
}

const textFrom = (escaped: string): string =>
  escaped
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const attributeIn = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : textFrom(value);
};

/** The values that a tag sends unless someone changes it. */
function valuesOf(tag: string, content: string): string[] {
  if (tag.startsWith('<textarea')) return [textFrom(content.replace(/^\n/, ''))];
  if (tag.startsWith('<select'))
    return [...content.matchAll(/<option[^>]*\sselected[^>]*>/g)].map(([option]) => attributeIn(option, 'value')!);
  return /type="checkbox"/.test(tag) && !/\schecked/.test(tag) ? [] : [attributeIn(tag, 'value') ?? ''];
}

/**
 * What a form of a page sends if nobody changes it.
 * @param id of the form
 */
export function fieldsIn(html: string, id: string): Record<string, string[]> {
  const form = new RegExp(`<form[^>]*\\sid="${id}"[^>]*>([\\s\\S]*?)</form>`).exec(html)?.[1];
  assert.ok(form !== undefined, `The page has no form ${id}.`);
  const fields: Record<string, string[]> = {};
  for (const [, input, other, content = ''] of form.matchAll(
    /(<input[^>]*>)|(<textarea[^>]*>|<select[^>]*>)([\s\S]*?)<\/(?:textarea|select)>/g,
  )) {
    const tag = (input ?? other)!;
    const name = attributeIn(tag, 'name');
    if (name !== undefined) fields[name] = [...(fields[name] ?? []), ...valuesOf(tag, content)];
  }
  return fields;
}

/**
 * Sends a form of a page as it is shown there, with some of its values changed.
 * @param id of the form
 */
export async function fillIn(
  browser: Browser,
  path: string,
  id: string,
  changes: Record<string, string | string[]>,
): Promise<Shown> {
  const { html } = await browser.get(path);
  const form = formsIn(html).find((each) => each.id === id);
  assert.ok(form, `${path} has no form ${id}: ${formsIn(html).map((each) => each.id)}`);
  return browser.send(form.action, form.does[0]!, { ...sentBy(form), ...changes });
}
