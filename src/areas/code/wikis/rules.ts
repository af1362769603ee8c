/** Validation of wiki pages: title, slug, and file format (docs/reference/wikis.md). Pure functions. */
import { pathProblem } from '../../../git/index.ts';
import { invalid } from '../../../http/index.ts';

export const formats = ['markdown', 'rdoc', 'asciidoc', 'org'] as const;
export type Format = (typeof formats)[number];

/** The extensions of pages. Among several files with the same slug, the file with the first of these extensions is the page. */
const formatsByExtension: ReadonlyMap<string, Format> = new Map([
  ['md', 'markdown'],
  ['markdown', 'markdown'],
  ['mkdn', 'markdown'],
  ['mkd', 'markdown'],
  ['rdoc', 'rdoc'],
  ['asciidoc', 'asciidoc'],
  ['adoc', 'asciidoc'],
  ['org', 'org'],
]);

export const extensions: readonly string[] = [...formatsByExtension.keys()];

/** The path of a new page; it gets the first extension of its format. */
export function pathOf(slug: string, format: Format): string {
  const extension = extensions.find((each) => formatsByExtension.get(each) === format)!;
  return `${slug}.${extension}`;
}

/** The path of an attached file. */
export const attachmentPath = (secret: string, name: string): string => `uploads/${secret}/${name}`;

/** Files there are attachments, and never pages, whatever their extension. */
const isAttached = (path: string): boolean => /^uploads\/[0-9a-f]{32}\//.test(path);

/** Replaces invalid UTF-8. No slug can name such a file, so it is not a page. */
const replacement = '\ufffd';

const nameOfPage = new RegExp(`^((?:[^]*/)?[^/]+)\\.(${extensions.join('|')})$`);

/** The slug and the format of the page in a file; undefined if the file is not a page. */
export function pageIn(path: string): { slug: string; format: Format } | undefined {
  const [, slug, extension = ''] = nameOfPage.exec(path) ?? [];
  const format = formatsByExtension.get(extension);
  if (slug === undefined || format === undefined || slug.includes(replacement) || isAttached(slug)) return undefined;
  return { slug, format };
}

/** The folder of a slug (empty at the top) and its last part. */
export function partsOf(slug: string): { folder: string; name: string } {
  const slash = slug.lastIndexOf('/');
  return { folder: slug.slice(0, Math.max(slash, 0)), name: slug.slice(slash + 1) };
}

/** The title of a page without one in its front matter. */
export const titleOf = (slug: string): string => partsOf(slug).name.replaceAll('-', ' ');

/** Whether a page is the home page of its wiki. */
export const isHome = (slug: string): boolean => slug.toLowerCase() === 'home';

/** The slug for a title, in which spaces are single and not at the ends of its parts. */
export const slugOf = (title: string): string => title.replaceAll(' ', '-');

const maximumPart_bytes = 255;
const maximumTitle_bytes = 1024;
/** Including white space that is removed. */
const maximumGiven_chars = 4096;

/** The reason for refusing the title of a page; undefined if it is valid. */
function titleProblem(title: string): string | undefined {
  const parts = title.split('/');
  if (parts.some((part) => Buffer.byteLength(part) > maximumPart_bytes))
    return `has a part of more than ${maximumPart_bytes} bytes`;
  if (Buffer.byteLength(title) > maximumTitle_bytes) return `has more than ${maximumTitle_bytes} bytes`;
  if (title.includes(replacement)) return 'is not valid Unicode';
  if (isAttached(title)) return 'is the place of an attachment';
  return pathProblem(slugOf(title));
}

/** A page's new title with its slug. */
export interface Titled {
  /** With folders, and white space normalised. */
  title: string;
  slug: string;
}

/**
 * The page with a title.
 * @param given includes the folders of the page, separated by slashes
 * @throws ApiError 400 with the reason for refusing the title
 */
export function titled(given: string): Titled {
  if (given.length > maximumGiven_chars) throw invalid({ title: [`has more than ${maximumGiven_chars} characters`] });
  const parts = given.split('/').map((part) => part.replaceAll(/\s+/g, ' ').trim());
  const title = parts.join('/');
  const problem = /\p{Cc}/u.test(given) ? 'contains control characters' : titleProblem(title);
  if (problem !== undefined) throw invalid({ title: [problem] });
  return { title, slug: slugOf(title) };
}

/**
 * The same for renaming a page. Without a slash the page stays in its folder; a leading slash refers to the top.
 * @throws ApiError 400
 */
export function retitled(slug: string, given: string): Titled {
  const { folder } = partsOf(slug);
  if (given.startsWith('/')) return titled(given.slice(1));
  return titled(given.includes('/') || folder === '' ? given : `${folder}/${given}`);
}

/** @throws ApiError 400 if the content exceeds the limit in the settings */
export function refuseLong(content: Buffer, limit_bytes: number): void {
  if (content.length > limit_bytes)
    throw invalid({ content: [`is too long (${content.length} Bytes). The maximum size is ${limit_bytes} Bytes.`] });
}
