/** What streaming destinations of audit events may be (docs/reference/audit_events.md#streaming). Pure functions. */
import { randomBytes } from 'node:crypto';
import { tooLong } from '../../../texts/index.ts';
import { tokenReasons } from '../hooks/rules.ts';

/** The number of destinations of a group, and of the server. */
export const maximumDestinations = 10;
/** The number of names that a destination asks for. */
const maximumFilters = 100;
const maximumName = 72;
const token = { minimum: 16, maximum: 24 };

export const nameReasons = (name: string): string[] =>
  name.trim() === '' ? ["can't be blank"] : tooLong(name, maximumName);

export const verificationReasons = (given: string): string[] => [
  ...(given.length < token.minimum ? [`is too short (minimum is ${token.minimum} characters)`] : []),
  ...tooLong(given, token.maximum),
  ...tokenReasons(given),
];

export const newVerificationToken = (): string => randomBytes(18).toString('base64url');

export const filterReasons = (names: readonly string[]): string[] => [
  ...(names.length > maximumFilters ? [`is too long (maximum is ${maximumFilters} entries)`] : []),
  ...(names.every((name) => /^[a-z0-9_]{1,100}$/.test(name)) ? [] : ['is invalid']),
];
