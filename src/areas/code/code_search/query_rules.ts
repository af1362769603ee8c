/** Parses code search queries: a text with file filters (docs/reference/search.md#code). */

type Property = 'path' | 'filename' | 'extension' | 'blob';

/** A filter of files by one of their properties. */
interface FileFilter {
  property: Property;
  value: string;
  excludes: boolean;
}

export interface CodeQuery {
  /** Empty if the query has only filters. */
  text: string;
  filters: readonly FileFilter[];
}

export interface SearchableFile {
  path: string;
  /** The blob id. */
  id: string;
}

/** A text folded for case-insensitive comparison. */
export const folded = (text: string): string => text.toLowerCase();

/** Includes the following white space, so that one space is left between the words around it. */
const filterForm = /(?<=^|\s)(-?)(path|filename|extension|blob):(\S+)(?:\s+|$)/g;

/** Parses a search text. */
export function codeQueryOf(search: string): CodeQuery {
  const filters: FileFilter[] = [];
  const text = search.replaceAll(filterForm, (_, minus: string, property: Property, value: string) => {
    filters.push({ property, value: value.toLowerCase(), excludes: minus === '-' });
    return '';
  });
  return { text: text.trim(), filters };
}

function propertyOf({ path, id }: SearchableFile, property: Property): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (property === 'path') return path;
  if (property === 'blob') return id;
  return property === 'filename' ? name : name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : '';
}

/** Whether a text matches a pattern in which `*` matches any characters. */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/** Without `*`, a path matches by any part of it, and an id by its prefix. */
function matches(property: Property, text: string, value: string): boolean {
  if (value.includes('*') || property === 'filename' || property === 'extension') return isLike(text, value);
  return property === 'path' ? text.includes(value) : text.startsWith(value);
}

/** Whether a file passes all filters. */
export const isWanted = ({ filters }: CodeQuery, file: SearchableFile): boolean =>
  filters.every(
    ({ property, value, excludes }) => matches(property, propertyOf(file, property).toLowerCase(), value) !== excludes,
  );
