/** Keeps masked values out of logs while they grow (docs/reference/job_logs.md#masking). Pure functions. */

const shown = Buffer.from('[MASKED]');

/** The forms in which a value appears in a log: as it is, in base64, and as a part of a URL. */
function formsOf(value: string): string[] {
  return [value, Buffer.from(value).toString('base64'), encodeURIComponent(value.toWellFormed())];
}

/** The texts that a log must not show, the longest first. */
export const secretsOf = (values: readonly string[]): Buffer[] =>
  [...new Set(values.filter((value) => value !== '').flatMap(formsOf))]
    .map((text) => Buffer.from(text))
    .sort((one, other) => other.length - one.length);

/** How many bytes at the end of a text may be the beginning of a secret. */
function openEnd(text: Buffer, secrets: readonly Buffer[]): number {
  const longest = Math.min(text.length, (secrets[0]?.length ?? 1) - 1);
  for (let length = longest; length > 0; length -= 1) {
    const end = text.subarray(text.length - length);
    if (secrets.some((secret) => secret.length > length && secret.subarray(0, length).equals(end))) return length;
  }
  return 0;
}

/**
 * A text with each secret replaced, up to a place; a secret that begins before it and goes on after it is left to the rest.
 * @returns the bytes to keep, and where the rest begins
 */
function replaced(text: Buffer, secrets: readonly Buffer[], end: number): { kept: Buffer; rest: number } {
  const parts: Buffer[] = [];
  let at = 0;
  const next = new Map(secrets.map((secret) => [secret, text.indexOf(secret)]));
  for (;;) {
    let first: Buffer | undefined;
    for (const secret of secrets) {
      if (next.get(secret)! >= 0 && next.get(secret)! < at) next.set(secret, text.indexOf(secret, at));
      const place = next.get(secret)!;
      if (place >= 0 && (first === undefined || place < next.get(first)!)) first = secret;
    }
    const place = first === undefined ? end : next.get(first)!;
    const rest = Math.max(at, Math.min(place, end));
    if (first === undefined || place >= end || place + first.length > end)
      return { kept: Buffer.concat([...parts, text.subarray(at, rest)]), rest };
    parts.push(text.subarray(at, place), shown);
    at = place + first.length;
  }
}

/**
 * Masks the next piece of a log.
 * @param held_back what was held back of the piece before it
 * @param secrets as `secretsOf` returns them
 * @returns what can be kept, and what is held back, since it may be the beginning of a secret
 */
export function maskPiece(
  held_back: Buffer,
  piece: Buffer,
  secrets: readonly Buffer[],
): { kept: Buffer; held_back: Buffer } {
  const text = held_back.length === 0 ? piece : Buffer.concat([held_back, piece]);
  if (secrets.length === 0) return { kept: text, held_back: Buffer.alloc(0) };
  const { kept, rest } = replaced(text, secrets, text.length - openEnd(text, secrets));
  return { kept, held_back: Buffer.from(text.subarray(rest)) };
}

/** Masks what was held back when the log ends. */
export const maskRest = (held_back: Buffer, secrets: readonly Buffer[]): Buffer =>
  replaced(held_back, secrets, held_back.length).kept;
