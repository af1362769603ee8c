/** Alerts: quotations that begin with `[!NOTE]` or the name of another kind. */
import type { StateCore, Token } from 'markdown-it';

const mark = /^\[!(note|tip|important|warning|caution)\][ \t]*([^\n]*)(?:\n|$)/i;

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

/** The kind and the title in the first line of a quotation, which is taken out. */
function taken(inline: Token | undefined): { kind: string; title: string } | undefined {
  const [whole, kind, title] = (inline?.type === 'inline' && mark.exec(inline.content)) || [];
  if (whole === undefined) return undefined;
  inline!.content = inline!.content.slice(whole.length);
  return { kind: kind!.toLowerCase(), title: title!.trim() || capitalised(kind!) };
}

/** A rule for the parser, before the texts in blocks are read: the rest of the first line is the title of the alert. */
export function showAlerts({ tokens, Token: Made }: StateCore): void {
  const closing: ('div' | undefined)[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token.type === 'blockquote_close' && closing.pop()) token.tag = 'div';
    if (token.type !== 'blockquote_open') continue;
    const alert = taken(tokens[index + 2]);
    closing.push(alert && 'div');
    if (!alert) continue;
    token.tag = 'div';
    token.attrJoin('class', `alert ${alert.kind}`);
    const title = new Made('inline', '', 0);
    Object.assign(title, { content: alert.title, children: [], level: token.level + 2, map: tokens[index + 2]!.map });
    const open = new Made('paragraph_open', 'p', 1);
    open.attrJoin('class', 'alert-title');
    const paragraph = [open, title, new Made('paragraph_close', 'p', -1)];
    // A title alone leaves an empty paragraph behind.
    tokens.splice(index + 1, tokens[index + 2]!.content === '' ? 3 : 0, ...paragraph);
  }
}
