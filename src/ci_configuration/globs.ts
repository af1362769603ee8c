/**
 * Globs of file names in `changes`, `exists` and `include` (docs/reference/ci_configuration.md#globs). They become expressions in RE2 syntax, so that no glob takes longer than the
 * product of its length and that of the path.
 */
import { compiled } from '../expressions/compiling.ts';
import { InvalidExpression } from '../expressions/matching.ts';

const special = /[*?[{\\]/;
const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A class such as `[ab]`, `[a-z]` or `[!a]`, or undefined where `[` is only a character. A slash is in none. */
function classAt(glob: string, at: number): { source: string; end: number } | undefined {
  const [whole, negation, members = ''] = /^\[([!^]?)((?:\\.|[^\\\]/])+)\]/s.exec(glob.slice(at, at + 256)) ?? [];
  if (whole === undefined) return undefined;
  // A backslash keeps its meaning; other signs of RE2 have none.
  const inside = members.replaceAll(/\\(.)|[[\]^&~]/gs, (sign, escaped: string | undefined) => `\\${escaped ?? sign}`);
  return { source: `[${negation ? '^/' : ''}${inside}]`, end: at + whole.length };
}

/** The positions of the braces that are closed, with those of the commas that part them. */
function bracesIn(glob: string): { opening: Set<number>; closing: Set<number>; parting: Set<number> } {
  const found = { opening: new Set<number>(), closing: new Set<number>(), parting: new Set<number>() };
  const open: { at: number; commas: number[] }[] = [];
  for (let at = 0; at < glob.length; at++) {
    const sign = glob[at];
    if (sign === '\\') at++;
    else if (sign === '{') open.push({ at, commas: [] });
    else if (sign === ',') open.at(-1)?.commas.push(at);
    else if (sign === '}') {
      const brace = open.pop();
      if (!brace) continue;
      found.opening.add(brace.at);
      found.closing.add(at);
      for (const comma of brace.commas) found.parting.add(comma);
    }
  }
  return found;
}

function sourceOf(glob: string): string {
  const { opening, closing, parting } = bracesIn(glob);
  let source = '';
  for (let at = 0; at < glob.length; ) {
    const sign = glob[at]!;
    const found = sign === '[' ? classAt(glob, at) : undefined;
    const isFolders = glob.startsWith('**/', at) && (at === 0 || glob[at - 1] === '/');
    if (found) source += found.source;
    else if (isFolders) source += '(?:.*/)?';
    else if (glob.startsWith('**', at)) source += '.*';
    else if (sign === '*') source += '[^/]*';
    else if (sign === '?') source += '[^/]';
    else if (opening.has(at)) source += '(?:';
    else if (closing.has(at)) source += ')';
    else if (parting.has(at)) source += '|';
    else if (sign === '\\' && at + 1 < glob.length) source += literal(glob[at + 1]!);
    else source += literal(sign);
    at =
      found?.end ?? at + (isFolders ? 3 : glob.startsWith('**', at) || (sign === '\\' && at + 1 < glob.length) ? 2 : 1);
  }
  return `(?s)^(?:${source})$`;
}

/** Whether a glob means more than the path that it is. */
export const isGlob = (glob: string): boolean => special.test(glob);

/**
 * What tells whether a path matches a glob: `*` and `?` stay within a folder, `**` means any depth, `{a,b}` one of several and `[ab]` one character of several; a
 * leading dot and `!` are characters like others. A glob that is too large matches nothing.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (!isGlob(glob)) return (path) => path === glob;
  try {
    const regex = compiled({ source: sourceOf(glob) });
    return (path) => regex.test(path);
  } catch (error) {
    if (error instanceof InvalidExpression) return () => false;
    throw error;
  }
}
