/** Boxes of task items, which can be ticked where a page offers it. */
import MarkdownIt, { type StateCore } from 'markdown-it';
import { titleOf } from './headings.ts';
import { boxIn } from './tasks.ts';

const { escapeHtml } = new MarkdownIt().utils;

const mark = /^\[([ xX])\]\s+/;

/** What the rule reads of the context of a text. */
interface Environment {
  /** The id of the form that the boxes belong to; without one they are only shown. */
  ticks?: string | undefined;
  /** Whether the reader can neither tick nor follow anything in the text. */
  is_mail?: true | undefined;
}

/**
 * A rule for the parser: `- [ ] text` begins with a box. One that can be ticked is named after the line of the text on which it is, so that the page can change the text.
 */
export function showBoxes({ src, tokens, env, Token: Made }: StateCore): void {
  const { ticks, is_mail } = env as Environment;
  let lines: readonly string[] | undefined;
  for (const [index, { type }] of tokens.entries()) {
    const inline = tokens[index + 2];
    if (type !== 'list_item_open' || inline?.type !== 'inline') continue;
    const first = inline.children?.[0];
    const [whole, state] = (first?.type === 'text' && mark.exec(first.content)) || [];
    if (whole === undefined) continue;
    first!.content = first!.content.slice(whole.length);
    tokens[index]!.attrJoin('class', 'task');
    lines ??= src.split('\n');
    const line = inline.map?.[0] ?? -1;
    const checked = state === ' ' ? '' : ' checked';
    const label = escapeHtml(titleOf(inline).slice(0, 200));
    const isTicked = ticks !== undefined && boxIn(lines[line] ?? '') !== undefined;
    const names = isTicked ? ` name="ticked[]" value="${line}" form="${escapeHtml(ticks)}"` : ' disabled';
    const sent = isTicked ? `<input type="hidden" name="boxes[]" value="${line}" form="${escapeHtml(ticks)}">` : '';
    const box = new Made('box', '', 0);
    box.content = is_mail
      ? `${checked ? '☑' : '☐'} `
      : `${sent}<input type="checkbox"${names}${checked} aria-label="${label}"> `;
    inline.children!.unshift(box);
  }
}
