/** Markdown as HTML that is safe to show. */
import MarkdownIt, { type StateBlock, type StateCore, type Token } from 'markdown-it';
import sanitizeHtml from 'sanitize-html';
import { nextTurn } from '../foundation/loop_turns.ts';
import { nameHeadings, partOfOtherText, partOfText, withPrefixedId } from './headings.ts';
import { insteadOfImage } from './images.ts';
import { isMarkdownFile } from './media.ts';
import { addressInFile, addressInWiki, linkPage, type TextFile, type WikiPage } from './pages.ts';
import { asWritten, toPlainHtml } from './plain.ts';
import { type Reference, referencesInPlain } from './references.ts';
import { keptTags, shownTags } from './tags.ts';

/** The context of a text. */
export type TextContext = {
  linkOf?: LinkOf | undefined;
  /** Where the uploads of its project are, without a slash at the end: `/uploads/SECRET/NAME` in the text leads there. */
  uploads?: string | undefined;
  /** The page of a wiki that the text is: relative addresses lead from its folder, and `[[Page]]` to another page. */
  page?: WikiPage | undefined;
  /** The file of a repository that contains the text: relative addresses start from its folder, and addresses of images lead to their bytes. */
  file?: TextFile | undefined;
  /** The only server whose images are shown, as a URL; the addresses of others are written as text. Undefined: images of all servers are shown. */
  images_of?: string | undefined;
  /** The prefix of ids in the text, where a page shows several texts. */
  anchors?: string | undefined;
};

/** The address of the target of a reference, undefined if there is none. */
export type LinkOf = (reference: Reference) => string | undefined;

/**
 * Longer texts are shown as plain text, because the Markdown parser takes disproportionate time for malicious ones:
 * 35 ms for 10,000 characters of the worst kind, and another 15 ms for filtering their HTML.
 */
const maximumLength = 10_000;
/** Parsing a longer text, rendering it, and filtering longer HTML each take a turn of the event loop of their own. */
const atOnceLength = 1_000;

/** Longer HTML is not sent: a few characters can expand to many copies of a long address or a deep list, and the filter reads all of it. */
const maximumHtmlLength = 40_000;

const markdown = new MarkdownIt({ html: true, linkify: true, maxNesting: 50 });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// Runs before texts are joined, so that an escaped mark stays separate and does not start a reference.
markdown.core.ruler.before('text_join', 'escapes', ({ tokens }: StateCore) => {
  for (const token of tokens.flatMap(({ children }) => children ?? []))
    if (token.type === 'text_special' && token.info === 'escape') token.type = 'escaped';
});
markdown.block.ruler.before('table', 'sparse_table', showSparseTable);
markdown.inline.ruler.before('link', 'page_link', linkPage);
markdown.core.ruler.push('references', linkReferences);
markdown.core.ruler.push('headings', nameHeadings);
markdown.renderer.rules.html_block = (tokens, index) => shownTags(tokens[index]!.content);
markdown.renderer.rules.html_inline = (tokens, index) => shownTags(tokens[index]!.content);
markdown.renderer.rules.escaped = (tokens, index) => markdown.utils.escapeHtml(tokens[index]!.content);

/** The allowed HTML. Other tags that remain (tags.ts) are removed. */
const safe: sanitizeHtml.IOptions = {
  allowedTags: keptTags,
  allowedAttributes: {
    '*': ['id'],
    a: ['href', 'title'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    ol: ['start'],
    code: ['class'],
    abbr: ['title'],
  },
  allowedClasses: { code: ['language-*'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  nestingLimit: 100,
};

/**
 * Whether a line may separate the head of a table from its rows.
 * @param line its characters, each of which is read once
 */
export function isDelimiterRow(line: ArrayLike<string>): boolean {
  let hasDash = false;
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (!'-|: \t'.includes(character)) return false;
    hasDash ||= character === '-';
  }
  return hasDash;
}

/** Shows a table as plain text if it would have more cells than characters: the parser adds missing cells, and 2,000 characters would become 65,000 cells. */
function showSparseTable(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const delimiters = state.src.slice(state.bMarks[startLine + 1], state.eMarks[startLine + 1]);
  if (silent || startLine + 2 > endLine || !isDelimiterRow(delimiters)) return false;
  const columns = delimiters.split('|').length;
  let end = startLine + 2;
  while (end < endLine && !state.isEmpty(end) && state.sCount[end]! >= state.blkIndent) end += 1;
  if (columns * (end - startLine) <= state.eMarks[end - 1]! - state.bMarks[startLine]!) return false;
  const token = state.push('code_block', 'code', 0);
  token.content = state.getLines(startLine, end, state.blkIndent, true);
  token.map = [startLine, end];
  state.line = end;
  return true;
}

/** Links the references in texts outside links. */
function linkReferences(state: StateCore): void {
  const { linkOf } = state.env as { linkOf?: LinkOf };
  if (!linkOf) return;
  for (const token of state.tokens) {
    if (token.type !== 'inline' || !token.children) continue;
    let depth = 0;
    token.children = token.children.flatMap((child) => {
      if (child.type === 'link_open') depth += 1;
      if (child.type === 'link_close') depth -= 1;
      return child.type === 'text' && depth === 0 ? linked(state, child, linkOf) : [child];
    });
  }
}

/** A text, with its references as links. */
function linked(state: StateCore, token: Token, linkOf: LinkOf): Token[] {
  const made: Token[] = [];
  let at = 0;
  const addText = (end: number) => {
    if (end <= at) return;
    const text = new state.Token('text', '', 0);
    text.content = token.content.slice(at, end);
    made.push(text);
    at = end;
  };
  for (const reference of referencesInPlain(token.content)) {
    const href = linkOf(reference);
    if (href === undefined) continue;
    addText(reference.start);
    const open = new state.Token('link_open', 'a', 1);
    open.attrs = [['href', href]];
    made.push(open);
    addText(reference.end);
    made.push(new state.Token('link_close', 'a', -1));
  }
  addText(token.content.length);
  return made;
}

/** Whether a text is short enough to be rendered; longer ones are shown as plain text. */
export const isRendered = (text: string): boolean => text.length <= maximumLength;

const uploadAddress = /^\/uploads(?=\/[0-9a-f]{32}\/[^/]+$)/;

/** A relative address that names a part of another text. */
const partOfOther = /^([^#?:]+)#(.+)$/;

/** Ids, links and images of a text: with the whole path of uploads and of pages, and without images of other servers. */
function idsLinksAndImages(
  { uploads, page, file, images_of, anchors }: TextContext,
  ids: ReadonlySet<string>,
): sanitizeHtml.IOptions['transformTags'] {
  const withPart = (address: string): string => {
    if (address.startsWith('#')) return `#${partOfText(address.slice(1), { ids, anchors })}`;
    const [, path, part] = partOfOther.exec(address) ?? [];
    const isOfText = path !== undefined && (page !== undefined || (file !== undefined && isMarkdownFile(path)));
    return isOfText ? `${path}#${partOfOtherText(part!)}` : address;
  };
  const wholeAddress = (written: string, attribute: 'href' | 'src'): string => {
    const address = withPart(written);
    // As a function, since a replacement text gives some characters a meaning.
    if (uploads !== undefined && uploadAddress.test(address)) return address.replace(uploadAddress, () => uploads);
    if (file) return addressInFile(file, address, attribute);
    return page === undefined ? address : addressInWiki(page, address, attribute);
  };
  const whole = (attribs: sanitizeHtml.Attributes, attribute: 'href' | 'src'): sanitizeHtml.Attributes => {
    const address = attribs[attribute];
    return address ? { ...attribs, [attribute]: wholeAddress(address, attribute) } : attribs;
  };
  const isShown = ({ src = '' }: sanitizeHtml.Attributes) =>
    images_of === undefined || URL.parse(src, images_of)?.origin === new URL(images_of).origin;
  return {
    '*': (tagName, attribs) => ({ tagName, attribs: withPrefixedId(attribs, anchors) }),
    a: (tagName, attribs) => ({ tagName, attribs: whole(attribs, 'href') }),
    img: (tagName, attribs) =>
      isShown(attribs)
        ? { tagName, attribs: whole(attribs, 'src') }
        : { tagName: 'span', attribs: {}, text: insteadOfImage(attribs) },
  };
}

/**
 * The filtered HTML of a text, however long it is.
 * @returns undefined if its HTML is too long
 */
export async function filteredHtml(
  text: string,
  context: TextContext,
  { isInline = false, maximumHtml_chars }: { isInline?: boolean; maximumHtml_chars: number },
): Promise<string | undefined> {
  const ids = new Set<string>();
  const env = { ...context, ids };
  const tokens = isInline ? markdown.parseInline(text, env) : markdown.parse(text, env);
  if (text.length > atOnceLength) await nextTurn();
  const html = markdown.renderer.render(tokens, markdown.options, env);
  if (html.length > maximumHtml_chars) return undefined;
  if (html.length > atOnceLength) await nextTurn();
  return sanitizeHtml(html, { ...safe, transformTags: idsLinksAndImages(context, ids) });
}

/** The filtered HTML of a text; undefined if it has to be shown as plain text. */
const safeHtml = async (text: string, isInline: boolean, context: TextContext): Promise<string | undefined> =>
  isRendered(text) ? filteredHtml(text, context, { isInline, maximumHtml_chars: maximumHtmlLength }) : undefined;

/** A whole text, in paragraphs. */
export const toHtml = async (text: string, context: TextContext = {}): Promise<string> =>
  (await safeHtml(text, false, context)) ?? (await toPlainHtml(text));

/** A text of one paragraph, without the paragraph element, such as the description of a label. */
export const toInlineHtml = async (text: string, context: TextContext = {}): Promise<string> =>
  (await safeHtml(text, true, context)) ?? asWritten(text);
