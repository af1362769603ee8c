/** Paths of web pages. Each kind of page has one pattern, from which every link to it is built. */

/** Escapes a name with slashes, such as the name of a branch or a file, for the path of an address: each segment is escaped, the slashes stay. */
export const inAddress = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

/** Words with a special meaning in the addresses of the pages of a wiki. */
const wordOfWikis = /^[pn](?=(?:ages|ew)$)|^[ru](?=(?:aw|ploads)\/)|(?<=\/)[ehd](?=(?:dit|istory|iff)$)/;

/** The path of a wiki page, below the wiki. If a page is named like one of our own addresses, a letter of the word is escaped, and the address stays equivalent. */
export const withoutWords = (path: string): string =>
  path.replace(wordOfWikis, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

/** The slug of a wiki page as part of the path of an address. */
export const slugInAddress = (slug: string): string => withoutWords(inAddress(slug));

/** A value of a parameter: a full path, the name of a branch, a number … */
type Value = string | number;

/** One value for each name in a pattern. */
type ValuesOf<Pattern extends string> = Pattern extends `${string}:${string}/${infer Rest}`
  ? [Value, ...ValuesOf<Rest>]
  : Pattern extends `${string}:${string}`
    ? [Value]
    : [];

/** Fills a pattern with values, in order. */
export interface PagePath<Values extends Value[] = [place: Value, name: Value]> {
  (...values: Values): string;
  pattern: string;
}

/**
 * The path of a kind of page.
 * @param pattern e.g. `/:project/-/tree/:ref`; unlike in paths of endpoints, a value may have slashes
 */
export function pagePath<const Pattern extends string>(pattern: Pattern): PagePath<ValuesOf<Pattern>> {
  const [start = '', ...others] = pattern.split(/:\w+/);
  const path = (...values: ValuesOf<Pattern>) =>
    values.reduce<string>((filled, value, index) => filled + inAddress(String(value)) + others[index], start);
  return Object.assign(path, { pattern });
}
