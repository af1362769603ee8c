/** What a personal access token may be (conventions.md section 2.3, users-and-tokens.md section 6). */
import { tooLong } from '../../../http/index.ts';

/** The longest that a token may live where no setting says otherwise. */
const maximumLifetime_days = 365;
const maximumText = 255;
const day_ms = 86_400_000;

/** The day that is `days` after the one in UTC at `now`, `YYYY-MM-DD`. */
export const dayIn = (days: number, now = new Date()): string =>
  new Date(now.getTime() + days * day_ms).toISOString().slice(0, 10);

/** How long tokens may live. */
export interface Lifetime {
  maximum_days: number;
  /** Whether every token ends; otherwise one may live for ever. */
  is_limited: boolean;
}

/**
 * What the application settings say of lifetimes.
 * @param ofProgram whether the tokens are those of a service account, which has a setting of its own: nobody notices there that a token is about to end
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

/** The last day on which a token that is made now may end. */
export const lastDay = ({ maximum_days }: Lifetime, now = new Date()): string => dayIn(maximum_days, now);

/** Why a token cannot end on this day, empty when it can. A day that is over is fine: the token never works. */
export const expiryReasons = (expires_at: string | null, lifetime: Lifetime): string[] =>
  lifetime.is_limited && expires_at !== null && expires_at > lastDay(lifetime) ? [`must be before ${lastDay(lifetime)}`] : [];

interface Wish {
  name: string;
  description?: string | null;
  scopes: readonly string[];
  expires_at: string | null;
}

/** Why a token cannot be made so: reasons by field, empty when it can. */
export function tokenReasons({ name, description, scopes, expires_at }: Wish, lifetime: Lifetime): Record<string, string[]> {
  const fields = {
    name: name.trim() === '' ? ["can't be blank"] : tooLong(name, maximumText),
    description: tooLong(description ?? '', maximumText),
    scopes: scopes.length === 0 ? ["can't be blank"] : [],
    expires_at: expiryReasons(expires_at, lifetime),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, reasons]) => reasons.length > 0));
}
