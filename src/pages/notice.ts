/** Small pages for browsers, behind the links in mail. They are self-contained: no script, no asset, no session. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, type ErrorForm, sentenceOf } from '../http/index.ts';
import { escapeHtml } from '../texts/index.ts';

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

const style = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.5rem}dt{font-weight:600}dd{margin:0 0 .5rem}dd,p{overflow-wrap:anywhere}button{font:inherit;padding:.4rem 1rem;margin:.5rem 0}
label{display:block;margin:.5rem 0}input{font:inherit;display:block;width:100%;box-sizing:border-box}`;

/** Nothing may be loaded or executed, whatever a user-supplied text contains. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  // The addresses of these pages contain tokens, which neither a cache nor the next page may learn.
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};

const inputOf = ({ name, label, type, autocomplete, value = '' }: HtmlInput) =>
  `<label>${escapeHtml(label)} <input name="${escapeHtml(name)}" type="${type}" autocomplete="${autocomplete}" value="${escapeHtml(value)}" required></label>`;

function htmlOf(part: HtmlPart): string {
  if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`;
  if ('facts' in part)
    return `<dl>${part.facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>`;
  if ('link' in part) return `<p><a href="${escapeHtml(part.url)}">${escapeHtml(part.link)}</a></p>`;
  const fields = Object.entries(part.fields ?? {}).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  const inputs = (part.inputs ?? []).map(inputOf);
  return `<form method="post" action="${escapeHtml(part.action)}">${[...fields, ...inputs].join('')}<button type="submit">${escapeHtml(part.button)}</button></form>`;
}

/** A complete page. Texts are escaped. */
export const htmlPage = ({ title, parts }: HtmlPage): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} · Coppice</title><style>${style}</style></head>
<body><main>
<h1>${escapeHtml(title)}</h1>
${parts.map(htmlOf).join('\n')}
</main></body>
</html>
`;

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
