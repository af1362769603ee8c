/** Small pages for browsers, behind the links in mail. They need no session. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../http/index.ts';
import { type ApiError, type ErrorForm, jsonForm, sentenceOf } from '../http/index.ts';
import { originFor } from '../http/origin.ts';
import { type Assets, readAssets } from './assets.ts';
import { type Field, fieldOf, refusalOf } from './forms.ts';
import { type Html, html } from './html.ts';
import { layout, plainHouse } from './layout.ts';
import type { RefusedForm } from './page.ts';
import { facts } from './parts.ts';
import { sendSecret, wantsHtml } from './send.ts';

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
      /** What is typed, and what was refused of it. `form` begins the ids of the page. */
      inputs?: { form: string; fields: readonly Field[]; refused?: RefusedForm | undefined };
      /** The kind of the button, if it is not the one thing to do on the page. */
      look?: 'danger';
    };

export interface HtmlPage {
  /** Title and heading. */
  title: string;
  parts: readonly HtmlPart[];
}

function htmlOf(part: HtmlPart): Html {
  if (typeof part === 'string') return html`<p>${part}</p>`;
  if ('facts' in part) return facts(part.facts);
  if ('link' in part) return html`<p><a href="${part.url}">${part.link}</a></p>`;
  const { button, action, fields = {}, inputs, look = 'primary' } = part;
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const typed = inputs?.fields.map((field) => fieldOf(field, inputs.form, inputs.refused));
  return html`<form method="post" action="${action}" class="${typed ? 'fields' : 'single'}">${
    inputs?.refused && refusalOf(inputs.refused, inputs.fields)
  }${hidden}${typed}<button class="${look}">${button}</button></form>`;
}

let assets: Assets | undefined;

/** A complete page, as someone who is not signed in sees it. Texts are escaped. */
export function htmlPage({ title, parts }: HtmlPage): Html {
  assets ??= readAssets().addresses;
  const main = html`${parts.map(htmlOf)}`;
  const seen = { caller: undefined, path: '/', query: {}, may: () => false, refused: undefined };
  const { before, after } = layout({ title: [title], main }, seen, { assets, sections: [], house: plainHouse });
  return html`${before}${main}${after}`;
}

/** Where a page is sent. */
export interface NoticeCall {
  services: Pick<Services, 'url'>;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Replies with a page. Its address may contain a token, so that nothing keeps it. */
export const sendPage = ({ services, request, reply }: NoticeCall, status: number, page: HtmlPage): FastifyReply =>
  sendSecret(reply.header('x-robots-tag', 'noindex'), htmlPage(page), {
    status,
    origin: originFor(request, services.url),
  });

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
  services: NoticeCall['services'],
  pageFor: (reason: string, refusal: ApiError, request: FastifyRequest) => HtmlPage,
): ErrorForm => ({
  write: (refusal, request, reply) =>
    sendPage({ services, request, reply }, refusal.status, pageFor(reasonOf(refusal), refusal, request)),
});

/** Replies to requests that are refused before routing, such as an address that cannot be decoded: with a page for browsers. */
export const unreadableForm = (services: NoticeCall['services']): ErrorForm => ({
  write: (refusal, request, reply) =>
    request.url.startsWith('/api/') || !wantsHtml(request)
      ? jsonForm.write(refusal, request, reply)
      : pageForm(services, (reason) => ({ title: 'Not possible', parts: [reason] })).write(refusal, request, reply),
});
