/** Who has a second factor, and who must have one (docs/reference/second_factors.md). */
import { sql } from 'kysely';
import { countsToday } from './expiry.ts';

/**
 * An SQL expression on rows of `users`: whether the user has a second factor. A security key that was disabled counts, since the account would otherwise be open
 * to a password alone.
 */
export const hasSecondFactor = sql<boolean>`
  (exists (select from totp_factors where totp_factors.user_id = users.id and enabled_at is not null)
   or exists (select from webauthn_credentials where webauthn_credentials.user_id = users.id))`;

/**
 * An SQL expression on rows of `users`: within how many hours a user must set up a second factor, the shortest period that holds for them; null for those who need none.
 * A group that requires it does so for its members and the members of its subgroups.
 */
export const secondFactorGrace_hours = sql<number | null>`
  (case when users.user_type = 'human' then least(
    (select two_factor_grace_period from application_settings
      where require_two_factor_authentication or (require_admin_two_factor_authentication and users.admin)),
    (select min(demanding.two_factor_grace_period) from namespaces demanding
      where demanding.require_two_factor_authentication
        and exists (select from group_authorizations joined join namespaces held on held.id = joined.group_id
                     where joined.user_id = users.id and held.traversal_ids @> array[demanding.id]
                       and ${countsToday('joined')}))) end)`;

/** An SQL expression on rows of `users`: whether the password alone is enough where no second factor can be asked for. */
export const passwordSuffices = sql<boolean>`(not ${hasSecondFactor} and ${secondFactorGrace_hours} is null)`;
