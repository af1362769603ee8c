/** Compiles regular expressions of users, in threads only: compiling and matching can take seconds (docs/decisions/0037-expressions-in-a-thread.md). */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { type Expression, InvalidExpression } from './matching.ts';

/** Ten times the size that `.{1,500}` needs. A text of n characters takes at most n times as many steps. */
const maximumProgram = 10_000;
const maximumKept = 50;

/** Compiled expressions, least recently used first. */
const kept = new Map<string, RE2JS>();

/** A message for people, without the prefix that the flags add to the expression. */
function reasonOf(error: RE2JSException, source: string): string {
  if (!(error instanceof RE2JSSyntaxException)) return error.message;
  const pattern = error.getPattern();
  const where = pattern?.endsWith(source) ? source : pattern;
  return where ? `${error.getDescription()}: \`${where}\`` : error.getDescription();
}

/**
 * Compiles an expression, or takes it from those compiled last.
 * @throws InvalidExpression with the reason, also when it is too large
 */
export function compiled({ source, ignores_case = false, multiline = false }: Expression): RE2JS {
  const flags = (ignores_case ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0);
  const key = `${flags} ${source}`;
  const pattern = kept.get(key) ?? compile(source, flags);
  kept.delete(key);
  kept.set(key, pattern);
  for (const oldest of kept.keys()) {
    if (kept.size <= maximumKept) break;
    kept.delete(oldest);
  }
  return pattern;
}

function compile(source: string, flags: number): RE2JS {
  try {
    const pattern = RE2JS.compile(source, flags);
    if (pattern.re2().numberOfInstructions() > maximumProgram) throw new RE2JSSyntaxException('expression too large');
    return pattern;
  } catch (error) {
    if (error instanceof RE2JSException) throw new InvalidExpression(reasonOf(error, source));
    throw error;
  }
}
