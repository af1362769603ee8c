/** Paths of web pages. Each kind of page has one pattern, by which every link to it is built. */

/** A name with slashes, such as that of a branch or a file, as part of the path of an address: each part is escaped, the slashes stay. */
export const inAddress = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

/** A full path, the name of a branch, a number … */
type Value = string | number;

/** One value for each name in a pattern. */
type ValuesOf<Pattern extends string> = Pattern extends `${string}:${string}/${infer Rest}`
  ? [Value, ...ValuesOf<Rest>]
  : Pattern extends `${string}:${string}`
    ? [Value]
    : [];

/** Fills a pattern with values, in its order. */
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
