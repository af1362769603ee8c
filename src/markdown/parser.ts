/** The parser of Markdown: CommonMark with what people expect besides (docs/reference/markdown.md). */
import { gemoji } from 'gemoji';
import MarkdownIt, { type Renderer, type StateBlock, type StateCore, type Token } from 'markdown-it';
import { bare as emoji } from 'markdown-it-emoji';
import footnotes from 'markdown-it-footnote';
import { showAlerts } from './alerts.ts';
import { showBoxes } from './boxes.ts';
import { showContents } from './contents.ts';
import { showFormulas } from './formulas.ts';
import { nameHeadings, titleOf } from './headings.ts';
import { linkPage } from './pages.ts';
import { type Reference, referencesInPlain } from './references.ts';
import { shownTags } from './tags.ts';

/** The address of the target of a reference, undefined if there is none. */
export type LinkOf = (reference: Reference) => string | undefined;

export const markdown = new MarkdownIt({ html: true, linkify: true, maxNesting: 50 });
const { core, block, inline, linkify, renderer, utils } = markdown;
linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.use(footnotes);
// `x^[2]` is more often an exponent than a note.
inline.ruler.disable('footnote_inline');
markdown.use(emoji, {
  defs: Object.fromEntries(gemoji.flatMap(({ names, emoji }) => names.map((name) => [name, emoji]))),
});
// Runs before texts are joined, so that an escaped mark stays separate and does not start a reference.
core.ruler.before('text_join', 'escapes', ({ tokens }: StateCore) => {
  for (const token of tokens.flatMap(({ children }) => children ?? []))
    if (token.type === 'text_special' && token.info === 'escape') token.type = 'escaped';
});
core.ruler.after('block', 'alerts', showAlerts);
block.ruler.before('table', 'sparse_table', showSparseTable);
inline.ruler.before('link', 'page_link', linkPage);
core.ruler.push('boxes', showBoxes);
core.ruler.push('formulas', showFormulas);
core.ruler.push('references', linkReferences);
core.ruler.push('headings', nameHeadings);
core.ruler.push('contents', showContents);

/** What the rules read of the context of a text. */
interface Environment {
  linkOf?: LinkOf;
  is_mail?: true;
}

type Options = typeof markdown.options;

/** Markup that was made by a rule. */
const asIs = (tokens: Token[], index: number) => tokens[index]!.content;
/** The alignment of a cell, whose style no page would apply. */
function alignedCell(tokens: Token[], index: number, options: Options, _env: unknown, self: Renderer): string {
  const cell = tokens[index]!;
  const [, align] = /^text-align:(\w+)$/.exec(String(cell.attrGet('style') ?? '')) ?? [];
  if (align) cell.attrs = [['align', align]];
  return self.renderToken(tokens, index, options);
}

/** A heading with an id, and beside it a link to it. */
function openHeading(tokens: Token[], index: number, options: Options, env: Environment, self: Renderer) {
  const start = self.renderToken(tokens, index, options);
  return linkOfHeading(tokens, index, env) ? `<div class="heading">${start}` : start;
}
function closeHeading(tokens: Token[], index: number, options: Options, env: Environment, self: Renderer) {
  const link = linkOfHeading(tokens, index - 2, env);
  return link ? `</${tokens[index]!.tag}>${link}</div>\n` : self.renderToken(tokens, index, options);
}
function linkOfHeading(tokens: readonly Token[], index: number, { is_mail }: Environment): string | undefined {
  const id = tokens[index]!.attrGet('id');
  if (!id || is_mail) return undefined;
  const title = utils.escapeHtml(titleOf(tokens[index + 1]!));
  return `<a class="anchor" href="#${utils.escapeHtml(String(id))}" aria-label="Link to ${title}"></a>`;
}

Object.assign(renderer.rules, {
  footnote_block_open: () => '<section class="footnotes">\n<ol>\n',
  heading_open: openHeading,
  heading_close: closeHeading,
  html_block: (tokens: Token[], index: number) => shownTags(tokens[index]!.content),
  html_inline: (tokens: Token[], index: number) => shownTags(tokens[index]!.content),
  escaped: (tokens: Token[], index: number) => utils.escapeHtml(tokens[index]!.content),
  contents: asIs,
  box: asIs,
  formula: asIs,
  th_open: alignedCell,
  td_open: alignedCell,
});

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
  const { linkOf } = state.env as Environment;
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
