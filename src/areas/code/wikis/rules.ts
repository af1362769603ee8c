/** What a wiki page can be: its title, its slug, and the format of its file (docs/reference/wikis.md). Pure functions. */
import { pathProblem } from '../../../git/index.ts';
import { invalid } from '../../../http/index.ts';

export const formats = ['markdown', 'rdoc', 'asciidoc', 'org'] as const;
export type Format = (typeof formats)[number];

/** The extensions of pages. Of several files with one slug, the page is the one whose extension comes first. */
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

/** The path of a new page: the first extension of a format is the one that is written. */
export function pathOf(slug: string, format: Format): string {
  const extension = extensions.find((each) => formatsByExtension.get(each) === format)!;
  return `${slug}.${extension}`;
}

/** The path of a file that was attached. */
export const attachmentPath = (secret: string, name: string): string => `uploads/${secret}/${name}`;

/** Files there are shown by pages, and are no pages whatever their extension. */
const isAttached = (path: string): boolean => /^uploads\/[0-9a-f]{32}\//.test(path);

/** Stands for bytes that are not UTF-8. No slug names such a file, so it is no page. */
const replacement = '\ufffd';

const nameOfPage = new RegExp(`^((?:[^]*/)?[^/]+)\\.(${extensions.join('|')})$`);

/** The slug and the format of the page in a file; undefined when the file is no page. */
export function pageIn(path: string): { slug: string; format: Format } | undefined {
  const [, slug, extension = ''] = nameOfPage.exec(path) ?? [];
  const format = formatsByExtension.get(extension);
  if (slug === undefined || format === undefined || slug.includes(replacement) || isAttached(slug)) return undefined;
  return { slug, format };
}

/** The folder of a slug, empty at the top, and the part after it. */
export function partsOf(slug: string): { folder: string; name: string } {
  const slash = slug.lastIndexOf('/');
  return { folder: slug.slice(0, Math.max(slash, 0)), name: slug.slice(slash + 1) };
}

/** The title of a page without one in its front matter. */
export const titleOf = (slug: string): string => partsOf(slug).name.replaceAll('-', ' ');

/** Whether a page is the first one of its wiki. */
export const isHome = (slug: string): boolean => slug.toLowerCase() === 'home';

/** The slug of a page with a title, whose blanks are single and not at the ends of its parts. */
export const slugOf = (title: string): string => title.replaceAll(' ', '-');

const maximumPart_bytes = 255;
const maximumTitle_bytes = 1024;
/** With the blanks that are dropped. */
const maximumGiven_chars = 4096;

/** Why a page cannot have a title; undefined when it can. */
function titleProblem(title: string): string | undefined {
  const parts = title.split('/');
  if (parts.some((part) => Buffer.byteLength(part) > maximumPart_bytes))
    return `has a part of more than ${maximumPart_bytes} bytes`;
  if (Buffer.byteLength(title) > maximumTitle_bytes) return `has more than ${maximumTitle_bytes} bytes`;
  if (title.includes(replacement)) return 'is not valid Unicode';
  if (isAttached(title)) return 'is the place of an attachment';
  return pathProblem(slugOf(title));
}

/** A new title of a page, and the slug that it has with it. */
export interface Titled {
  /** With its folders, and single blanks. */
  title: string;
  slug: string;
}

/**
 * The page that a title names.
 * @param given with the folders of the page, between slashes
 * @throws ApiError 400 with the reason why no page can have the title
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
 * The same for a page that gets another title. Without a slash it stays in its folder, and one that begins with a slash leads to the top.
 * @throws ApiError 400
 */
export function retitled(slug: string, given: string): Titled {
  const { folder } = partsOf(slug);
  if (given.startsWith('/')) return titled(given.slice(1));
  return titled(given.includes('/') || folder === '' ? given : `${folder}/${given}`);
}

/** @throws ApiError 400 for content that is longer than the setting allows */
export function refuseLong(content: Buffer, limit_bytes: number): void {
  if (content.length > limit_bytes)
    throw invalid({ content: [`is too long (${content.length} Bytes). The maximum size is ${limit_bytes} Bytes.`] });
}
