/** How wikis appear in responses and texts (docs/reference/wikis.md#object). */
import { StringDecoder } from 'node:string_decoder';
import { type Static, Type } from 'typebox';
import type { WikiPlace } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import { optional, resource, type Services } from '../../../http/index.ts';
import { mapInSlices } from '../../../markdown/index.ts';
import type { ReadPage } from './content_git.ts';
import { formats, titleOf } from './rules.ts';

export const WikiPageForm = resource('WikiPage', {
  format: Type.Enum([...formats]),
  slug: Type.String({ description: 'The path of the page without the extension' }),
  title: Type.String({ description: 'That of the front matter, or the last part of the slug' }),
  front_matter: Type.Record(Type.String(), Type.Unknown()),
  content: optional(Type.String({ description: 'The file with its front matter, or the page as HTML' })),
  encoding: optional(Type.String()),
});

/** Longer titles in the front matter are ignored. */
const maximumTitle_chars = 1024;

type Matter = Record<string, unknown>;

const matterOf = ({ matter }: ReadPage) => JSON.parse(matter.json) as Matter;

/** The title of a page. */
export function shownTitle(page: ReadPage, { title }: Matter = matterOf(page)): string {
  const isShown = typeof title === 'string' && title.trim() !== '' && title.length <= maximumTitle_chars;
  return isShown ? title.trim() : titleOf(page.slug);
}

/** Decoding a piece of this size takes about a millisecond. */
const piece_bytes = 1024 * 1024;

/** The content of a page as text, decoded in pieces. */
export async function textOf(content: Buffer): Promise<string> {
  if (content.length <= piece_bytes) return content.toString();
  const decoder = new StringDecoder('utf8');
  const count = Math.ceil(content.length / piece_bytes);
  const pieces = Array.from({ length: count }, (_, index) =>
    content.subarray(index * piece_bytes, (index + 1) * piece_bytes),
  );
  return (await mapInSlices(pieces, (piece) => decoder.write(piece))).join('') + decoder.end();
}

/** @param html the page as HTML, if requested */
export async function presentPage(page: ReadPage, html?: string): Promise<Static<typeof WikiPageForm>> {
  const { format, slug } = page;
  const content = html ?? (page.content && (await textOf(page.content)));
  const front_matter = matterOf(page);
  return {
    format,
    slug,
    title: shownTitle(page, front_matter),
    front_matter,
    ...(content === undefined ? {} : { content, encoding: 'UTF-8' }),
  };
}

const projectWikiPage = pagePath('/:project/-/wikis');
const groupWikiPage = pagePath('/groups/:group/-/wikis');

/** The web address of a wiki. */
export const wikiUrl = (
  { url }: Pick<Services, 'url'>,
  { group_id, full_path }: Pick<WikiPlace, 'group_id' | 'full_path'>,
): string => url + (group_id === null ? projectWikiPage : groupWikiPage)(full_path);
