/** The codes of devices without a browser (RFC 8628). Pure functions. */
import { randomInt } from 'node:crypto';

/** How long a device waits for a person, and how long between two questions. */
export const device_s = { lasts: 300, interval: 5 };

/** Letters that are not taken for others, and make no words. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;

/** A new code for a person to enter. */
export const newUserCode = (): string => Array.from({ length }, () => letters[randomInt(letters.length)]).join('');

/** A code as it is shown. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code that a person has entered, in any case, with or without what divides it; undefined for what is none. */
export function userCodeIn(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return code.length === length && [...code].every((letter) => letters.includes(letter)) ? code : undefined;
}
