/** Rendering Markdown to HTML that is safe to show. */
import sanitizeHtml from 'sanitize-html';
import { nextTurn } from '../foundation/loop_turns.ts';
import { hasFormulas, loadFormulas } from './formulas.ts';
import { markdown } from './parser.ts';
import { optionsFor, type TextContext } from './sanitizing.ts';

/** Parsing a longer text, rendering it, and filtering longer HTML each take a turn of the event loop of their own. */
const atOnceLength = 1_000;

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
  if (!context.is_mail && hasFormulas(text)) await loadFormulas();
  const tokens = isInline ? markdown.parseInline(text, env) : markdown.parse(text, env);
  if (text.length > atOnceLength) await nextTurn();
  const html = markdown.renderer.render(tokens, markdown.options, env);
  if (html.length > maximumHtml_chars) return undefined;
  if (html.length > atOnceLength) await nextTurn();
  return sanitizeHtml(html, optionsFor(context, ids));
}
