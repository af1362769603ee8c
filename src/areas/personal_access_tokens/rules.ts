/** What a personal access token may be (conventions.md section 2.3, users-and-tokens.md section 6). */

/** The longest that a token may live; also how long it lives when nobody says. */
const maximumLifetime_days = 365;
const maximumText = 255;
const day_ms = 86_400_000;

/** The day that is `days` after the one in UTC at `now`, `YYYY-MM-DD`. */
export const dayIn = (days: number, now = new Date()): string =>
  new Date(now.getTime() + days * day_ms).toISOString().slice(0, 10);

/** The last day on which a token that is made now may end. */
export const lastDay = (now = new Date()): string => dayIn(maximumLifetime_days, now);

/** Why a token cannot end on this day, empty when it can. A day that is over is fine: the token never works. */
export const expiryReasons = (expires_at: string): string[] => (expires_at > lastDay() ? [`must be before ${lastDay()}`] : []);

interface Wish {
  name: string;
  description?: string | null;
  scopes: readonly string[];
  expires_at: string;
}

/** Why a token cannot be made so: reasons by field, empty when it can. */
export function tokenReasons({ name, description, scopes, expires_at }: Wish): Record<string, string[]> {
  const tooLong = (text: string) =>
    [...text].length > maximumText ? [`is too long (maximum is ${maximumText} characters)`] : [];
  const fields = {
    name: name.trim() === '' ? ["can't be blank"] : tooLong(name),
    description: tooLong(description ?? ''),
    scopes: scopes.length === 0 ? ["can't be blank"] : [],
    expires_at: expiryReasons(expires_at),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, reasons]) => reasons.length > 0));
}
