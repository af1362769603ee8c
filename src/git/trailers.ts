/** Trailers: the `Key: value` lines at the end of a commit message, found by the rules of `git interpret-trailers`. */

/** Lines that git writes itself; a paragraph that has one of them needs only a quarter of trailers. */
const written_by_git = /^(Signed-off-by: |\(cherry picked from commit )/;
/** A key is letters, digits and dashes, and may be followed by blanks before the colon. */
const trailer = /^([A-Za-z0-9-]+)[ \t]*:(.*)$/s;
/** In 2.39 a line that starts with a blank continues the trailer before it. */
const continuation = /^[ \t\v\f\r]/;

/** Every trailer of a message, in order, with continued lines folded into one. */
export function trailersOf(message: string): { key: string; value: string }[] {
  const block = trailerBlock(message);
  const found: { key: string; value: string }[] = [];
  let last: { key: string; value: string } | undefined;
  for (const line of block) {
    if (continuation.test(line)) {
      if (last) last.value = `${last.value} ${line.trim()}`.trim();
      continue;
    }
    const match = trailer.exec(line);
    last = match ? { key: match[1]!, value: match[2]!.trim() } : undefined;
    if (last) found.push(last);
  }
  return found;
}

/** The lines of the last paragraph when it counts as trailers, else none. The first paragraph is the title and never counts. */
function trailerBlock(message: string): string[] {
  const all = message.split('\n');
  const lines = withoutEnd(
    all.slice(
      Math.max(
        0,
        all.findIndex((line) => !isBlank(line)),
      ),
    ),
  );
  const title_end = lines.findIndex(isBlank);
  if (title_end < 0) return [];
  while (isBlank(lines.at(-1) ?? 'title')) lines.pop();
  if (lines.length < title_end) return [];
  const block = lines.slice(lines.findLastIndex(isBlank) + 1);
  return isTrailerBlock(block) ? block : [];
}

/** Comments, empty lines and the list of conflicts that old versions of git left at the end do not count. */
function withoutEnd(lines: string[]): string[] {
  let end: number | undefined;
  let is_in_conflicts = false;
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('#') || line === '') end ??= index;
    else if (line === 'Conflicts:') {
      is_in_conflicts = true;
      end ??= index;
    } else if (!(is_in_conflicts && line.startsWith('\t'))) {
      is_in_conflicts = false;
      end = undefined;
    }
  }
  return lines.slice(0, end);
}

/** All of its lines are trailers, or git wrote one of them and a quarter are. */
function isTrailerBlock(block: string[]): boolean {
  let trailers = 0;
  let others = 0;
  let continued = 0;
  let has_git_line = false;
  // From the end, as git does: a continuation line belongs to the line above it.
  for (const line of block.toReversed()) {
    const is_git_line = written_by_git.test(line);
    if (continuation.test(line)) continued++;
    else {
      if (is_git_line || trailer.test(line)) trailers++;
      else others += line.startsWith('#') ? continued : 1 + continued;
      continued = 0;
    }
    has_git_line ||= is_git_line;
  }
  others += continued;
  return (trailers > 0 && others === 0) || (has_git_line && trailers * 3 >= others);
}

const isBlank = (line: string): boolean => line.trim() === '';
