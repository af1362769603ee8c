/** Parses JSON from another system. Texts that are too large for the parser are refused, and member names that change an object's prototype are dropped. */
import { InvalidContent, LimitExceeded } from './errors.ts';

const maximumLevels = 64;
/** The parser needs up to half a kilobyte for each value, and the process dies when it runs out of memory. */
const maximumValues = 2_000_000;
const droppedNames = ['__proto__', 'constructor'] as const;

export type Json = string | number | boolean | null | Container;
export type Container = Json[] | { [name: string]: Json };

export const isContainer = (value: Json): value is Container => typeof value === 'object' && value !== null;

const [quote, backslash, comma, leftBracket, rightBracket, leftBrace, rightBrace] = Buffer.from(
  '"\\,[]{}',
) as unknown as number[];

/** Counts levels and values outside strings. The text need not be valid: the parser decides that. */
function checkBounds(text: Uint8Array): void {
  let [depth, values, isInString] = [0, 1, false];
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) isInString = !isInString;
    else if (isInString) at += byte === backslash ? 1 : 0;
    else if (byte === comma) values++;
    else if (byte === rightBracket || byte === rightBrace) depth--;
    else if (byte === leftBracket || byte === leftBrace) {
      values++;
      if (++depth > maximumLevels)
        throw new LimitExceeded(`The JSON is nested more than ${maximumLevels} levels deep.`);
    }
  }
  if (values > maximumValues) throw new LimitExceeded('The JSON has more than 2,000,000 values.');
}

/**
 * The value of a JSON text in UTF-8, without members named `__proto__` or `constructor`.
 * @throws InvalidContent; LimitExceeded for more than 64 levels or 2,000,000 values
 */
export function boundedJson(text: Buffer): Json {
  checkBounds(text);
  const value = parsed(text);
  const left = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (!isContainer(next)) continue;
    if (!Array.isArray(next)) for (const name of droppedNames) if (Object.hasOwn(next, name)) delete next[name];
    for (const member of Object.values(next)) left.push(member);
  }
  return value;
}

function parsed(text: Buffer): Json {
  try {
    return JSON.parse(text.toString());
  } catch (error) {
    throw new InvalidContent('It is not JSON.', { cause: error });
  }
}
