/** What an address may be, and how long it may wait for its confirmation. Pure functions. */
import { tooLong } from '../../../http/index.ts';

/** After so many days the link in a confirmation mail opens nothing any more, and a claim that nobody has confirmed ends. */
export const confirmation_days = 3;

const pattern = /^[^\s\p{Cc}@<>(),;:"[\]\\]+@[^\s\p{Cc}@<>(),;:"[\]\\.]+(\.[^\s\p{Cc}@<>(),;:"[\]\\.]+)*$/u;
/** The longest address that can be written into a mail (RFC 5321). */
const maximumLength = 254;

/** Why this is no address that mail could go to, empty when it is one. */
export function emailReasons(email: string): string[] {
  if (email.trim() === '') return ["can't be blank"];
  return [...(pattern.test(email) ? [] : ['is invalid']), ...tooLong(email, maximumLength)];
}
