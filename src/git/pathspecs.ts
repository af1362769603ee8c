/** Pathspecs for files whose names are not UTF-8. Arguments of a process are text, so such a name is passed as a pattern. */
import type { Environment } from './types.ts';

/** The environment in which git accepts the output of `pathspecOf`. Without it, git takes paths literally. */
export const byPathspecs: Environment = { GIT_LITERAL_PATHSPECS: '0' };

/**
 * The pathspec of a path.
 * @param path the text of its bytes, with U+FFFD in the place of those that are not UTF-8: then git may find others that differ only there
 */
export function pathspecOf(path: string): string {
  if (!path.includes('\ufffd')) return `:(literal)${path}`;
  // Each replacement character stands for up to three bytes, none of which is ASCII.
  const pattern = path
    .replace(/[\\*?[]/g, '\\$&')
    .replace(/\ufffd+/g, (odd) => `${'[!\x01-\x7f]'.repeat(odd.length)}*`);
  return `:(glob)${pattern}`;
}
