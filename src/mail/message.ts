/** A letter is written once, as what it says, and rendered as plain text and as HTML: neither can know more than the other. */

/** A piece of a letter: a text, a link to be followed, or facts with their names. */
export type Paragraph = string | { link: string; url: string } | { facts: readonly (readonly [name: string, value: string])[] };

export interface Letter {
  subject: string;
  paragraphs: readonly Paragraph[];
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!);

/** A name or value with a line break could pass for a fact of its own. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function asText(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return paragraph;
  if ('link' in paragraph) return `${paragraph.link}:\n${paragraph.url}`;
  return paragraph.facts.map(([name, value]) => `${name}: ${oneLine(value)}`).join('\n');
}

function asHtml(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return `<p>${escaped(paragraph).replaceAll('\n', '<br>')}</p>`;
  if ('link' in paragraph) return `<p><a href="${escaped(paragraph.url)}">${escaped(paragraph.link)}</a></p>`;
  const rows = paragraph.facts.map(
    ([name, value]) => `<tr><th align="left">${escaped(name)}</th><td>${escaped(oneLine(value))}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

/** Both forms of a letter. */
export function renderLetter({ subject, paragraphs }: Letter): { subject: string; text: string; html: string } {
  const body = paragraphs.map(asHtml).join('\n');
  return {
    // A line break would begin another header.
    subject: oneLine(subject),
    text: `${paragraphs.map(asText).join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body>\n${body}\n</body></html>\n`,
  };
}
