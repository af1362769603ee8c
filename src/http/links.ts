/** The headers of a page (docs/api.md). */
import type { FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';
import type { Values } from './form.ts';
import { originFor } from './origin.ts';
import type { Page } from './reply.ts';

/** The source of links: the request and the external address of the server. */
export interface Linking {
  request: FastifyRequest;
  url: string;
}

/** Clients and proxies refuse replies whose headers take more than 8 or 16 KiB. */
const maximumHeader = 6000;

/**
 * The address of a redirect, in the characters that headers allow: others are percent-encoded.
 * @throws ApiError 414 if it repeats too much of a long request
 */
export function locationOf(url: string): string {
  const address = url.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
  if (address.length > maximumHeader) throw new ApiError(414, { message: '414 URI Too Long' });
  return address;
}

/** Long links are left out; the page numbers remain. */
const linkHeader = (links: string[]): Record<string, string> => {
  const link = links.join(', ');
  return link.length > maximumHeader ? {} : { link };
};

const secrets = new Set(['private_token', 'access_token']);

/** `value` under `name` as name-value pairs, which `readForm` turns back into the value. */
function pairsOf(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item) => pairsOf(`${name}[]`, item));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, member]) => pairsOf(`${name}[${key}]`, member));
  return value === undefined || value === null ? [] : [[name, String(value)]];
}

function linkTo({ request, url }: Linking, parameters: Values, changes: Record<string, string>): string {
  const all = { page: 1, per_page: 20, ...parameters, ...changes };
  const pairs = Object.entries(all)
    .filter(([name]) => !secrets.has(name))
    .flatMap(([name, value]) => pairsOf(name, value))
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return `${originFor(request, url)}${request.url.split('?', 1)[0]}?${query}`;
}

function keysetHeaders(
  linking: Linking,
  parameters: Values,
  next: Record<string, string> | null,
): Record<string, string> {
  if (next === null) return {};
  const { page: _page, ...rest } = parameters;
  return linkHeader([`<${linkTo(linking, { ...rest, page: undefined }, next)}>; rel="next"`]);
}

/**
 * @param parameters those of the request, path parameters included
 * @param page the page of the reply
 * @returns `x-*` headers and `link`; totals only where the page has them
 */
export function pageHeaders(linking: Linking, parameters: Values, page: Page<unknown>): Record<string, string> {
  if (page.next !== undefined) return keysetHeaders(linking, parameters, page.next);
  const last = page.total === undefined ? undefined : Math.max(1, Math.ceil(page.total / page.per_page));
  const isInside = last === undefined ? page.items.length > 0 : page.page <= last;
  const previous = page.page > 1 && isInside ? page.page - 1 : undefined;
  const next = page.has_more ? page.page + 1 : undefined;
  const targets = { prev: previous, next, first: 1, last };
  const { cursor: _cursor, ...rest } = parameters;
  const links = Object.entries(targets)
    .filter(([, number]) => number !== undefined)
    .map(([rel, number]) => {
      const cursor = rel === 'next' && page.cursor !== undefined ? { cursor: page.cursor } : {};
      return `<${linkTo(linking, { ...rest, ...cursor }, { page: String(number) })}>; rel="${rel}"`;
    });
  return {
    'x-page': String(page.page),
    'x-per-page': String(page.per_page),
    'x-next-page': next === undefined ? '' : String(next),
    'x-prev-page': previous === undefined ? '' : String(previous),
    ...linkHeader(links),
    ...(last === undefined ? {} : { 'x-total': String(page.total), 'x-total-pages': String(last) }),
  };
}
