/** Rules of accounts that providers sign in (docs/reference/sign_in_providers.md#accounts). Pure functions. */
import type { Stated } from '../../../identity_providers/index.ts';
import { usernameReasons } from '../namespaces/rules.ts';

/** How many names are tried before one with a random end. */
const mostNumbered = 100;
/** Leaves room for a number. */
const longest_characters = 200;

/** A text as the start of a username: letters without accents, digits, and what may join them. */
const cleaned = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-zA-Z0-9_.-]+/g, '-')
    .slice(0, longest_characters)
    .replace(/^[-.]+/, '')
    .replace(/(?:\.git|\.atom|[-.])+$/i, '');

/**
 * Usernames for a new account, the best one first, all of them valid.
 * @param random the end of the last one
 */
export function usernamesFor({ username, email }: Pick<Stated, 'username' | 'email'>, random: string): string[] {
  const wanted = username ?? email ?? '';
  const base = cleaned(wanted.split('@', 1)[0]!) || 'user';
  const numbered = Array.from({ length: mostNumbered }, (_, index) => `${base}${index + 1}`);
  return [base, ...numbered, `${base}-${random}`].filter((name) => usernameReasons(name).length === 0);
}

/** Whether a person is in one of some groups. */
export const isInOneOf = (groups: readonly string[] | undefined, of: readonly string[]): boolean =>
  (groups ?? []).some((group) => of.includes(group));

/** Whether a provider has asked for a second factor itself, as far as the operator trusts it with that. */
export const isTrusted = (trusted: false | readonly string[], methods: readonly string[]): boolean =>
  trusted !== false && methods.some((method) => trusted.includes(method));

/** Why somebody is not signed in, as one sentence for them and a reason for the log, which has nothing that was sent. */
export class SignInRefused extends Error {
  override name = 'SignInRefused';
  readonly status: 401 | 403 | 422 | 503;
  readonly reason: string;
  constructor(status: SignInRefused['status'], sentence: string, reason: string) {
    super(sentence);
    this.status = status;
    this.reason = reason;
  }
}

/** The refusal that says nothing of the cause. */
export const failed = (label: string, reason: string): SignInRefused =>
  new SignInRefused(401, `Sign-in with ${label} failed: ask whoever runs it.`, reason);
export const down = (label: string, reason: string): SignInRefused =>
  new SignInRefused(503, `${label} does not answer. Try again later.`, reason);
export const notApproved = (reason: string) => new SignInRefused(403, 'Your account has not been approved.', reason);
export const waiting = () =>
  new SignInRefused(403, 'Your account is waiting for an administrator.', 'account waits for approval');
export const ofAnother = () =>
  new SignInRefused(422, 'This identity belongs to another account.', 'identity of another account');
