/** A mail message is written once and rendered as plain text and as HTML, so that both have the same content. */

/** A paragraph of a message: a text, also one that has been formatted as safe HTML, a link, or a table of facts. */
export type Paragraph =
  | string
  | { text: string; html: string }
  | { link: string; url: string }
  | { facts: readonly (readonly [name: string, value: string])[] };

export interface Message {
  subject: string;
  paragraphs: readonly Paragraph[];
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!);

/** A name or value with a line break could forge another fact. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function asText(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return paragraph;
  if ('html' in paragraph) return paragraph.text;
  if ('link' in paragraph) return `${paragraph.link}:\n${paragraph.url}`;
  return paragraph.facts.map(([name, value]) => `${name}: ${oneLine(value)}`).join('\n');
}

function asHtml(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return `<p>${escaped(paragraph).replaceAll('\n', '<br>')}</p>`;
  if ('html' in paragraph) return paragraph.html;
  if ('link' in paragraph) return `<p><a href="${escaped(paragraph.url)}">${escaped(paragraph.link)}</a></p>`;
  const rows = paragraph.facts.map(
    ([name, value]) => `<tr><th align="left">${escaped(name)}</th><td>${escaped(oneLine(value))}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

/** Few rules, which hold on light and on dark backgrounds. Programs that ignore them show the plain elements. */
const style = [
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44em;margin:1em;overflow-wrap:anywhere}',
  'h1{font-size:1.4em}h2{font-size:1.2em}h3,h4,h5,h6{font-size:1em}',
  'pre{white-space:pre-wrap;padding:.75em}',
  'blockquote{margin:1em 0;padding-left:1em;border-left:3px solid #8888}',
  'table{border-collapse:collapse}th,td{padding:.25em .75em;text-align:left}pre,th,td{border:1px solid #8886}',
  'img{max-width:100%}',
].join('');

/** The two parts of a message. */
export function renderMessage({ subject, paragraphs }: Message): { subject: string; text: string; html: string } {
  const body = paragraphs.map(asHtml).join('\n');
  return {
    // A line break would start another header.
    subject: oneLine(subject),
    text: `${paragraphs.map(asText).join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escaped(subject)}</title><style>${style}</style></head><body>\n${body}\n</body></html>\n`,
  };
}
