/** A table of contents, where `[[_TOC_]]` or `[TOC]` is a paragraph of its own. */
import MarkdownIt, { type StateCore, type Token } from 'markdown-it';
import { titleOf } from './headings.ts';

const { escapeHtml } = new MarkdownIt().utils;

const mark = /^(?:\[\[_TOC_\]\]|\[TOC\])$/i;

/** The headings with an id as nested lists. A heading that skips levels is one level below the heading before it. */
function listOf(tokens: readonly Token[]): string {
  let made = '';
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    const id = token.type === 'heading_open' && token.attrGet('id');
    if (!id) continue;
    const level = Number(token.tag.slice(1));
    while (open.length > 1 && open.at(-1)! > level) {
      open.pop();
      made += '</li></ul>';
    }
    if (open.length === 0 || open.at(-1)! < level) {
      open.push(level);
      made += '<ul>';
    } else made += '</li>';
    made += `<li><a href="#${escapeHtml(String(id))}">${escapeHtml(titleOf(tokens[index + 1]!))}</a>`;
  }
  return `${made}${'</li></ul>'.repeat(open.length)}\n`;
}

/** A rule for the parser, after headings have ids. Only the first place shows a table, since each is as long as the text has headings. */
export function showContents({ tokens, Token: Made }: StateCore): void {
  const at = tokens.findIndex(({ type, content, level }) => type === 'inline' && level === 1 && mark.test(content));
  if (at === -1 || tokens[at - 1]?.type !== 'paragraph_open') return;
  const contents = new Made('contents', '', 0);
  contents.content = listOf(tokens);
  tokens.splice(at - 1, 3, contents);
}
