/** Finding the page of an address. */
import type { AnyPage } from './page.ts';

interface Route {
  page: AnyPage;
  pattern: RegExp;
  names: readonly string[];
}

/** The word by which routes are looked up: the first one that is no parameter, behind `/-/` if there is one. */
function keyOf(path: string): string {
  const [before = '', behind] = path.split(/\/-\//, 2);
  if (behind !== undefined && before !== '') return `-/${behind.split('/', 1)[0]}`;
  return path.split('/')[1]!;
}

/** The path of a project or group: words with slashes between them, none of which is a dash. */
const pathPattern = '((?!-/)[^/]+(?:/(?!-(?:/|$))[^/]+)*?)';

/** A pattern for the undecoded address. The path of a project or group has slashes, and ends before `/-/`. */
function routeOf(page: AnyPage): Route {
  const names: string[] = [];
  const pattern = page.path.replaceAll(/[.+()]/g, '\\$&').replaceAll(/(\*|:)(\w+)/g, (_, mark, name) => {
    names.push(name);
    if (mark === '*') return '(.+)';
    if (name !== 'id' || !/^(\/groups)?\/:id(\/|$)/.test(page.path)) return '([^/]+)';
    // No project is below what stands before the paths of groups.
    return page.path.startsWith('/groups') ? pathPattern : `(?!groups/)${pathPattern}`;
  });
  return { page, names, pattern: new RegExp(`^${pattern}$`) };
}

export interface FoundPage {
  page: AnyPage;
  params: Record<string, string>;
}

/** Those of an address that cannot be decoded are no page's. */
function decoded(values: readonly string[]): string[] | undefined {
  try {
    return values.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/**
 * Makes a function that finds pages.
 * @param pages the more specific ones first
 */
export function pageFinder(pages: readonly AnyPage[]): (path: string) => FoundPage | undefined {
  const routes = Map.groupBy(pages.map(routeOf), ({ page }) => keyOf(page.path));
  const others = [...routes].flatMap(([key, found]) => (key.startsWith(':') ? found : []));
  return (address) => {
    const path = address.length > 1 ? address.replace(/\/$/, '') : address;
    for (const { page, pattern, names } of [...(routes.get(keyOf(path)) ?? []), ...others]) {
      const values = pattern.exec(path)?.slice(1);
      const texts = values && decoded(values);
      if (texts) return { page, params: Object.fromEntries(names.map((name, index) => [name, texts[index]!])) };
    }
    return undefined;
  };
}
