/** Front matter: the metadata of a page in YAML, between lines of `---` at its beginning. */
import { CORE_SCHEMA, constructFromEvents, parseEvents } from 'js-yaml';

export interface FrontMatter {
  /** The JSON of an object; `{}` without front matter. */
  json: string;
  /** The offset where the text of the page begins, after the front matter. */
  end: number;
}

/** The maximum size of the YAML, in bytes of UTF-8. Longer front matter counts as text. */
export const maximumFrontMatter_bytes = 1024 * 1024;
/** The maximum nesting; no real front matter is nested this deeply. */
const deepest = 100;

const opening = /^---[ \t]*\r?\n/;
const closing = /^---[ \t]*\r?(?:\n|$)/gm;

/** The unparsed YAML of a page; undefined if the page does not begin with front matter. */
export function yamlIn(text: string): { yaml: string; end: number } | undefined {
  const start = opening.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  // An end marker beyond this limit does not count.
  const near = text.slice(start, start + maximumFrontMatter_bytes + 1000);
  closing.lastIndex = 0;
  const end = closing.exec(near);
  if (!end || Buffer.byteLength(near.slice(0, end.index)) > maximumFrontMatter_bytes) return undefined;
  return { yaml: near.slice(0, end.index), end: start + end.index + end[0].length };
}

/**
 * The JSON of the object that YAML describes; undefined if it is invalid or describes another type. YAML with anchors is refused: with them, a short text can expand
 * to a long one.
 */
export function jsonOf(yaml: string): string | undefined {
  try {
    const events = parseEvents(yaml, { maxDepth: deepest });
    if (events.some((event) => 'anchorStart' in event && event.anchorStart >= 0)) return undefined;
    const [value, ...others] = constructFromEvents(events, { source: yaml, schema: CORE_SCHEMA });
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && others.length === 0 ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
