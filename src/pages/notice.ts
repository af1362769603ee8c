/** Small pages for browsers, behind the links in mail. They need no session. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, type ErrorForm, sentenceOf } from '../http/index.ts';
import { type Assets, readAssets } from './assets.ts';
import { type Html, html } from './html.ts';
import { layout, plainHouse } from './layout.ts';
import { facts } from './parts.ts';

/** An input of a form. */
export interface HtmlInput {
  name: string;
  label: string;
  type: 'text' | 'password';
  /** The `autocomplete` name, by which browsers fill it in. */
  autocomplete: 'username' | 'name' | 'current-password' | 'new-password';
  /** The initial value. */
  value?: string;
}

/** A piece of a page: a text, facts with their names, a link, or a form with one button. */
export type HtmlPart =
  | string
  | { facts: readonly (readonly [name: string, value: string])[] }
  | { link: string; url: string }
  | {
      /** The label of the button. */
      button: string;
      /** The path on this server that the form is posted to. */
      action: string;
      /** Hidden fields. */
      fields?: Readonly<Record<string, string>>;
      inputs?: readonly HtmlInput[];
    };

export interface HtmlPage {
  /** Title and heading. */
  title: string;
  parts: readonly HtmlPart[];
}

/** Nothing but our own assets may be loaded or executed, whatever a user-supplied text contains. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types coppice',
].join('; ');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  // The addresses of these pages contain tokens, which neither a cache nor the next page may learn.
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};

const inputOf = ({ name, label, type, autocomplete, value = '' }: HtmlInput): Html =>
  html`<div class="field"><label>${label} <input name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}" required></label></div>`;

function htmlOf(part: HtmlPart): Html {
  if (typeof part === 'string') return html`<p>${part}</p>`;
  if ('facts' in part) return facts(part.facts);
  if ('link' in part) return html`<p><a href="${part.url}">${part.link}</a></p>`;
  const { button, action, fields = {}, inputs = [] } = part;
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${action}" class="${inputs.length > 0 ? 'fields' : 'single'}">${hidden}${inputs.map(inputOf)}<button class="primary">${button}</button></form>`;
}

let assets: Assets | undefined;

/** A complete page, as someone who is not signed in sees it. Texts are escaped. */
export function htmlPage({ title, parts }: HtmlPage): string {
  assets ??= readAssets().addresses;
  const main = html`${parts.map(htmlOf)}`;
  const seen = { caller: undefined, path: '/', query: {}, may: () => false, refused: undefined };
  const { before, after } = layout({ title: [title], main }, seen, { assets, tabs: [], house: plainHouse });
  return `${before}${main}${after}`;
}

/** Replies with a page that is not cached and loads nothing. */
export const sendPage = (reply: FastifyReply, status: number, page: HtmlPage): FastifyReply =>
  reply.code(status).headers(headers).send(htmlPage(page));

/** The reason of a refusal, as a sentence. */
function reasonOf({ body }: ApiError): string {
  const { message } = body as { message: string | Record<string, string[]> };
  return typeof message === 'string' ? message.replace(/^\d{3} ([\w ]+ - )?/, '') : sentenceOf(message);
}

/**
 * Replies to refusals with a page.
 * @param pageFor the page for a reason
 */
export const pageForm = (
  pageFor: (reason: string, refusal: ApiError, request: FastifyRequest) => HtmlPage,
): ErrorForm => ({
  write: (refusal, request, reply) => sendPage(reply, refusal.status, pageFor(reasonOf(refusal), refusal, request)),
});
