/** Feeds as Atom documents (RFC 4287). */
import { html } from '../../../pages/index.ts';

/** An entry of a feed. */
export interface Entry {
  title: string;
  /** The path of its page. */
  path: string;
  /** ISO 8601. */
  updated: string;
  author?: string | undefined;
  /** Plain text, which is shortened. */
  summary?: string | null | undefined;
  /** What tells it from others at the same path. */
  id?: string | number;
}

/** A feed. */
export interface Feed {
  title: string;
  /** The path of the page with the same list, and of the feed itself. */
  page: string;
  path: string;
  entries: readonly Entry[];
}

/** The time of what has none, which the format asks for. */
export const epoch = '1970-01-01T00:00:00Z';

const longestSummary = 500;

/** The characters that XML cannot contain, even as references. */
const notInXml = /(?![\t\n\r])[\p{Cc}\p{Cs}\u{fffe}\u{ffff}]/gu;

const text = (value: string) => value.replaceAll(notInXml, '');

/**
 * The document of a feed.
 * @param url of the server
 */
export function atomOf({ title, page, path, entries }: Feed, url: string): string {
  const updated =
    entries
      .map((entry) => entry.updated)
      .toSorted()
      .at(-1) ?? epoch;
  const shown = entries.map(
    (entry) => html`<entry>
<id>${text(`${url}${entry.path}${entry.id === undefined ? '' : `#${entry.id}`}`)}</id>
<title>${text(entry.title)}</title>
<link href="${`${url}${text(entry.path)}`}"/>
<updated>${entry.updated}</updated>
${entry.author !== undefined && html`<author><name>${text(entry.author)}</name></author>`}
${entry.summary && html`<summary>${text([...entry.summary].slice(0, longestSummary).join(''))}</summary>`}
</entry>
`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${text(`${url}${path}`)}</id>
<title>${text(title)}</title>
<link rel="self" href="${`${url}${text(path)}`}"/>
<link href="${`${url}${text(page)}`}"/>
<updated>${updated}</updated>
<author><name>Coppice</name></author>
${shown}</feed>
`.text;
}
