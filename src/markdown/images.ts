/** Images that are written as HTML in a text. */
import MarkdownIt from 'markdown-it';
import { readText, type TagPlace } from './references.ts';
import { inSlices } from './slices.ts';

const { unescapeAll } = new MarkdownIt().utils;

/** The value of an attribute of a tag, with entities read and in one line; empty without one. */
function attributeOf(tag: string, name: string): string {
  const [, double, single, bare] =
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'<>]+))`, 'i').exec(tag) ?? [];
  return unescapeAll(double ?? single ?? bare ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The replacement for an image: its alternative text and its address. */
export const insteadOfImage = ({ alt, src }: { alt?: string | undefined; src?: string | undefined }): string =>
  [alt, src].filter(Boolean).join(' ');

/**
 * A Markdown text for people who read it as it is written: with the alternative texts and addresses of images that are written as HTML, except in code and
 * comments.
 */
export async function withoutHtmlImages(text: string): Promise<string> {
  if (!/<img/i.test(text)) return text;
  const tags: TagPlace[] = [];
  await inSlices(readText(text, undefined, { tags }));
  let shown = '';
  let end = 0;
  for (const { text: tag, start } of tags) {
    if (!/^<img[\s/>]/i.test(tag)) continue;
    shown += text.slice(end, start) + insteadOfImage({ alt: attributeOf(tag, 'alt'), src: attributeOf(tag, 'src') });
    end = start + tag.length;
  }
  return shown + text.slice(end);
}
