/** Front matter: what a page says about itself in YAML, between lines of `---` at its beginning. */
import { CORE_SCHEMA, constructFromEvents, parseEvents } from 'js-yaml';

export interface FrontMatter {
  /** The JSON of an object; `{}` without front matter. */
  json: string;
  /** Where the text of the page begins, behind the front matter. */
  end: number;
}

/** Of the YAML, in bytes of UTF-8. What is longer is text. */
export const maximumFrontMatter_bytes = 1024 * 1024;
/** No front matter is nested this deeply. */
const deepest = 100;

const opening = /^---[ \t]*\r?\n/;
const closing = /^---[ \t]*\r?(?:\n|$)/gm;

/** The YAML of a page, not read yet; undefined if it does not begin with front matter. */
export function yamlIn(text: string): { yaml: string; end: number } | undefined {
  const start = opening.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  // Further on there is no end of it that counts.
  const near = text.slice(start, start + maximumFrontMatter_bytes + 1000);
  closing.lastIndex = 0;
  const end = closing.exec(near);
  if (!end || Buffer.byteLength(near.slice(0, end.index)) > maximumFrontMatter_bytes) return undefined;
  return { yaml: near.slice(0, end.index), end: start + end.index + end[0].length };
}

/**
 * The JSON of the object that YAML describes; undefined if it describes anything else, or is not valid. What has anchors is not: with them, a short text can
 * stand for a long one.
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
