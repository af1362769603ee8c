/** Rules of email addresses and their confirmation. Pure functions. */
import { tooLong } from '../../../texts/index.ts';

/** After this many days, confirmation links expire and unconfirmed claims are deleted. */
export const confirmation_days = 3;
/** For this many days after that, the account cannot add the address again. */
export const pause_days = 30;

/** An address in stored form. */
export const storedEmail = (email: string): string => email.trim().toLowerCase();

const pattern = /^[^\s\p{Cc}@<>(),;:"[\]\\]+@[^\s\p{Cc}@<>(),;:"[\]\\.]+(\.[^\s\p{Cc}@<>(),;:"[\]\\.]+)*$/u;
/** The maximum length of an address in a message (RFC 5321). */
const maximumLength = 254;

/** Reasons against an email address, empty if it can receive mail. */
export function emailReasons(email: string): string[] {
  if (email.trim() === '') return ["can't be blank"];
  return [...(pattern.test(email) ? [] : ['is invalid']), ...tooLong(email, maximumLength)];
}

/** The purpose of the tokens in confirmation links. */
export const linkPurpose = 'email confirmation';

/** The page of the links for addresses other than the primary one. */
export const newEmailPage = '/-/profile/emails/confirmation';

/** The page for the primary address of a new account, and for a new primary address. */
export const primaryEmailPage = '/users/confirmation';
