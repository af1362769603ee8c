/**
 * Accounts that no one uses: the ghost user, who owns the records of deleted users, placeholders for users of other servers, and the bot of security policies.
 */
import { sql } from 'kysely';

/** Whether no one uses an account of this type. */
export const isInternal = (user_type: string): boolean =>
  user_type === 'ghost' || user_type === 'placeholder' || user_type === 'security_policy_bot';

/** A predicate on rows of `users`: a person or a program can use the account. */
export const isUsableAccount = sql<boolean>`users.user_type not in ('ghost', 'placeholder', 'security_policy_bot')`;
