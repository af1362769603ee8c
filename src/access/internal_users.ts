/** Accounts that no one uses: the ghost user, who owns the records of deleted users, and placeholders for users of other servers. */
import { sql } from 'kysely';

/** Whether no one uses an account of this type. */
export const isInternal = (user_type: string): boolean => user_type === 'ghost' || user_type === 'placeholder';

/** A predicate on rows of `users`: a person or a program can use the account. */
export const isUsableAccount = sql<boolean>`users.user_type not in ('ghost', 'placeholder')`;
