/** Rules of personal access tokens and their lifetime (docs/reference/personal_access_tokens.md#lifetime). */
import { tokenScopes } from '../../../access/index.ts';
import { dayOf, daysAfter, lastDayReasons } from '../../../cron/index.ts';
import { tooLong } from '../../../texts/index.ts';

/** The maximum lifetime of a token if no setting limits it. */
const maximumLifetime_days = 365;
const maximumText = 255;

/** Scopes that only administrators can use. */
const adminScopes: readonly string[] = ['sudo', 'admin_mode'];

/** The scopes that a user can give to tokens of their own. */
export const scopesFor = ({ admin }: { admin: boolean }) =>
  tokenScopes.filter((scope) => admin || !adminScopes.includes(scope));

/** Limits of lifetimes. */
export interface Lifetime {
  maximum_days: number;
  /** Whether every token must expire. */
  is_limited: boolean;
}

/**
 * The limits of lifetimes in the application settings.
 * @param ofProgram whether the tokens belong to a service account. Service accounts have a setting of their own, because no person notices when their tokens expire.
 */
export const lifetimeFrom = (
  settings: {
    max_personal_access_token_lifetime: number | null;
    require_personal_access_token_expiry: boolean;
    service_access_tokens_expiration_enforced: boolean;
  },
  ofProgram: boolean,
): Lifetime => ({
  maximum_days: settings.max_personal_access_token_lifetime ?? maximumLifetime_days,
  is_limited: ofProgram
    ? settings.service_access_tokens_expiration_enforced
    : settings.require_personal_access_token_expiry || settings.max_personal_access_token_lifetime !== null,
});

/** The latest possible expiry of a token created now. */
export const lastDay = ({ maximum_days }: Lifetime, now = new Date()): string => daysAfter(dayOf(now), maximum_days);

/**
 * Reasons against an expiry: it is past, or too late. A token that ends today is accepted, as in the public API, though
 * it has already expired.
 */
export function expiryReasons(expires_at: string | null, lifetime: Lifetime): string[] {
  const isTooLate = lifetime.is_limited && expires_at !== null && expires_at > lastDay(lifetime);
  return isTooLate ? [`must be on or before ${lastDay(lifetime)}`] : lastDayReasons(expires_at);
}

interface Wish {
  name: string;
  description?: string | null;
  scopes: readonly string[];
  expires_at: string | null;
}

/** Reasons against the values of a token, by parameter. */
export function tokenReasons(
  { name, description, scopes, expires_at }: Wish,
  lifetime: Lifetime,
): Record<string, string[]> {
  const fields = {
    name: name.trim() === '' ? ["can't be blank"] : tooLong(name, maximumText),
    description: tooLong(description ?? '', maximumText),
    scopes: scopes.length === 0 ? ["can't be blank"] : [],
    expires_at: expiryReasons(expires_at, lifetime),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, reasons]) => reasons.length > 0));
}
