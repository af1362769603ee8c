/** The targets of links within a text: its headings have ids. */
import type { StateCore, Token } from 'markdown-it';

/** The prefix of ids in texts, so that no text can take an id of the surrounding page. Links omit it. */
const anchorPrefix = 'user-content-';

const singleHyphens = (id: string): string => id.replaceAll(/-+/g, '-');

/** The id of a heading, without the prefix. */
const headingId = (title: string): string =>
  singleHyphens(
    title
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The words of a token: emoji by their names for ids, which other programs make of the text as it was written. */
function wordsOf({ type, content, info, markup }: Token, isForId: boolean): string {
  if (type === 'html_inline' || type === 'box') return '';
  if (type === 'formula') return info;
  return type === 'emoji' && isForId ? markup : content;
}

/** The text of a heading or paragraph, without markup. @param inline its token */
export const titleOf = ({ children }: Token, { isForId = false } = {}): string =>
  (children ?? []).map((token) => wordsOf(token, isForId)).join('');

interface Anchors {
  /** The ids of the headings and of HTML in a text, without a prefix. */
  ids: ReadonlySet<string>;
  /** As in `TextContext`. */
  anchors?: string | undefined;
}

const idInHtml = /\s(?:id|name)\s*=\s*["']?([^\s"'<>&]{1,255})/gi;

/** The ids that notes and the places that refer to them have got from the parser. */
function idOfNote({ type, meta }: Token): string[] {
  const { id, subId } = (meta ?? {}) as { id: number; subId: number };
  if (type === 'footnote_open') return [`fn${id + 1}`];
  return type === 'footnote_anchor' ? [`fnref${id + 1}${subId > 0 ? `:${subId}` : ''}`] : [];
}

const htmlTokens = (token: Token): Token[] =>
  token.type === 'html_block' ? [token] : (token.children ?? []).filter(({ type }) => type === 'html_inline');

/**
 * A rule for the parser: gives each heading an id. A number is added if another heading or the HTML of the text has the id already: ids are unique within a text.
 */
export function nameHeadings({ tokens, env }: StateCore): void {
  const { ids, anchors = anchorPrefix } = env as { ids: Set<string>; anchors?: string };
  for (const { content } of tokens.flatMap(htmlTokens))
    for (const [, id] of content.matchAll(idInHtml)) ids.add(id!.startsWith(anchors) ? id!.slice(anchors.length) : id!);
  for (const id of tokens.flatMap(idOfNote)) ids.add(id);
  const counts = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const id = headingId(titleOf(tokens[index + 1]!, { isForId: true }));
    if (id === '') continue;
    let count = counts.get(id) ?? 0;
    const numbered = () => (count === 0 ? id : `${id}-${count}`);
    while (ids.has(numbered())) count++;
    counts.set(id, count + 1);
    ids.add(numbered());
    token.attrSet('id', anchors + numbered());
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Resolves a link to a part of the text to a part of the page. Links that name nothing in the text lead to the page around it, such as to a comment.
 * @param part the fragment after `#`. Texts written for other programs have a hyphen for each character between two words.
 */
export function partOfText(part: string, { ids, anchors = anchorPrefix }: Anchors): string {
  const written = decoded(part);
  const id = [written, singleHyphens(written.toLowerCase())].find((each) => ids.has(each));
  return id === undefined ? part : anchors + id;
}

/** As `partOfText`, for another text, whose ids are not known. */
export const partOfOtherText = (part: string): string =>
  anchorPrefix +
  singleHyphens(decoded(part.startsWith(anchorPrefix) ? part.slice(anchorPrefix.length) : part).toLowerCase());

/** The attributes of an element whose id or name, as people write them in HTML, is part of an address. */
export function withPrefixedId<Attributes extends Record<string, string>>(
  attributes: Attributes,
  anchors = anchorPrefix,
) {
  const { id = '', name, ...others } = attributes;
  const written = id || (name ?? '');
  if (!/^[^\s"'<>&]{1,255}$/.test(written)) return others;
  return { ...others, id: written.startsWith(anchors) ? written : anchors + written };
}
