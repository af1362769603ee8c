/** The owners that a group must not lose. */
import { sql } from 'kysely';
import { levels } from './levels.ts';

/**
 * A predicate on rows of `members` and their `users`: a person who will stay owner, which excludes bots, blocked users, and members whose membership ends.
 */
export const isLastingOwner = sql<boolean>`(
  members.access_level = ${sql.lit(levels.owner)} and members.expires_at is null
  and users.user_type = 'human' and users.state in ('active', 'deactivated'))`;
