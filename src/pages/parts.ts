/** Components that many pages share. */
import type { Page as ListPage, Values } from '../http/index.ts';
import { type Content, type Html, html } from './html.ts';
import { face } from './marks.ts';
import type { Seen } from './page.ts';

interface Person {
  id?: number;
  username: string;
  name: string;
  avatar_url?: string | null;
}

/** The face and name of a user, as a link; deleted ones have none. */
export const person = (user: Person | null | undefined): Html =>
  user
    ? html`<a class="person" href="${`/${user.username}`}">${face(user)}${user.name}</a>`
    : html`<span class="soft">a deleted user</span>`;

/** People in a sentence. */
export const people = (users: readonly Person[]): Content =>
  users.flatMap((user, index) => [index > 0 ? ', ' : undefined, person(user)]);

/**
 * Where a link leads: at addresses of ours without the server, so that it stays on the host by which the browser came.
 * @param url of the server, without a trailing slash
 */
export const linkTarget = (address: string, url: string): string =>
  address.startsWith(`${url}/`) ? address.slice(url.length) : address;

/** Names with values; those without one are left out. */
export function facts(entries: readonly (readonly [name: string, value: Content])[]): Html {
  const shown = entries.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A value of a query as written in an address. A list or an object becomes several parameters. */
function fieldsOf(name: string, value: unknown): (readonly [string, string])[] {
  if (typeof value === 'string') return [[name, value]];
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(`${name}[]`, each));
  return Object.entries(value ?? {}).flatMap(([key, each]) => fieldsOf(`${name}[${key}]`, each));
}

/** The path of the page with a changed query. Undefined removes a parameter. */
export function withQuery(
  { path, query }: Pick<Seen, 'path' | 'query'>,
  changes: Readonly<Record<string, string | number | undefined>>,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (!(name in changes)) for (const [key, each] of fieldsOf(name, value)) parameters.append(key, each);
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) parameters.append(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/**
 * Links to the pages before and after the one that is shown.
 * @param list its name, on a page with several lists
 */
export function pager(
  { page, has_more, total, per_page, cursor }: ListPage<unknown>,
  seen: Seen,
  list?: string,
): Html | undefined {
  if (page === 1 && !has_more) return undefined;
  const names = pagingNames(list);
  const last = total === undefined ? '' : ` of ${Math.max(1, Math.ceil(total / per_page))}`;
  return html`<nav class="pager" aria-label="${list ? `Pages of ${list.replaceAll('_', ' ')}` : 'Pages'}"><ul>
${page > 1 && html`<li><a rel="prev" href="${withQuery(seen, { [names.page]: page - 1, [names.cursor]: undefined })}">Previous page</a></li>`}
<li><span>Page ${page}${last}</span></li>
${has_more && html`<li><a rel="next" href="${withQuery(seen, { [names.page]: page + 1, [names.cursor]: cursor })}">Next page</a></li>`}
</ul></nav>`;
}

/** A list of rows, or a sentence if it is empty. */
export const rows = (items: readonly Content[], empty: string): Html =>
  items.length === 0
    ? html`<p class="soft">${empty}</p>`
    : html`<ul class="rows">${items.map((item) => html`<li>${item}</li>`)}</ul>`;

const pagingNames = (list: string | undefined) =>
  list === undefined ? { page: 'page', cursor: 'cursor' } : { page: `${list}_page`, cursor: `${list}_cursor` };

/**
 * The page of a list that was asked for, as parameters of an endpoint.
 * @param list its name, on a page with several lists
 */
export function pagingOf({ query }: Pick<Seen, 'query'>, list?: string): { page?: string; cursor?: string } {
  const { [pagingNames(list).page]: page, [pagingNames(list).cursor]: cursor } = query;
  return {
    ...(typeof page === 'string' ? { page } : {}),
    ...(typeof cursor === 'string' ? { cursor } : {}),
  };
}

/** The text typed into a field, trimmed; undefined if it was left empty. */
export function textIn(fields: Values, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Whether a box is ticked: each sends `false`, and `true` behind it if it is. */
export const isTicked = (fields: Values, name: string): boolean => [fields[name]].flat().at(-1) === 'true';
