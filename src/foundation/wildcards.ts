/** Names of branches and tags in which `*` stands for any characters. */

/**
 * Whether a pattern matches a name: `*` matches any characters, including slashes and none.
 * The pieces between the asterisks are matched in turn, because a regular expression takes exponential time for some names.
 */
export function isAbout(pattern: string, name: string): boolean {
  const [start = '', ...pieces] = pattern.split('*');
  if (pieces.length === 0) return pattern === name;
  const end = pieces.pop()!;
  if (!name.startsWith(start) || name.length < start.length + end.length || !name.endsWith(end)) return false;
  const middle = name.slice(start.length, name.length - end.length);
  let at = 0;
  for (const piece of pieces) {
    const found = middle.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return true;
}
