/** Rules of invitations and of their reminders (docs/reference/invitations.md). Pure functions. */
import { levels } from '../../../access/index.ts';
import { dayFrom, daysAfter, daysBetween } from '../../../cron/index.ts';
import type { EmailRefusal } from '../../instance/application_settings/index.ts';
import type { Actor, Source } from '../members/rules.ts';

/** The maximum number of people in one request. */
export const maximumAtOnce = 100;
export const tooManyText = `Too many users specified (limit is ${maximumAtOnce})`;
export const lockedText = 'Membership is locked by a group above this project';
export const takenText = 'Invite email has already been taken';
export const unknownText = 'User not found';
export const botText = 'User project bots cannot be added to other groups / projects';

/** Whether text looks like an address; otherwise the whole request is refused. */
export const looksLikeAddress = (text: string): boolean => /^[^@\s]+@[^@\s]+$/.test(text);

/**
 * The reason why a level cannot be given, undefined if it can.
 * @param withMinimal whether the plan has minimal access
 */
export function levelRefusal(
  source: Source,
  actor: Actor,
  access_level: number,
  withMinimal: boolean,
): string | undefined {
  const isTopLevelGroup = source.kind === 'group' && source.above.length === 0;
  if (access_level === 0 || (access_level === levels.minimal && !(isTopLevelGroup && withMinimal)))
    return 'Access level is not included in the list';
  return access_level > actor.access_level
    ? "the member access level can't be higher than the current user's one"
    : undefined;
}

const rules: Record<EmailRefusal, string> = {
  allowlist: 'check &#39;Allowed domains for sign-ups&#39;',
  denylist: 'check the &#39;Domain denylist&#39;',
  restrictions: 'check &#39;Email restrictions for sign-ups&#39;',
};

/** The text for an address that the sign-up restrictions exclude. Clients show it as HTML. */
export const emailRefusalText = (refusal: EmailRefusal, { kind }: Pick<Source, 'kind'>): string =>
  `The member's email address is not allowed for this ${kind}. Go to the &#39;Admin area &gt; Sign-up restrictions&#39;, and ${rules[refusal]}.`;

/**
 * The last day of the membership that results from an invitation: memberships end on days, and never before the
 * invitation does.
 * @param expires_at a moment, ISO 8601 in UTC; null: no end
 */
export const endOfAccess = (expires_at: string | null): string | null => expires_at && dayFrom(expires_at);

const reminderDays = [2, 5, 10];
/** The lifetime for which these days are intended. Shorter-lived invitations have their reminders closer together. */
const span_days = 14;

/**
 * The day of the next reminder, or null when there is none: never on the day on which the invitation expires, or later.
 * @param invitation its times, ISO 8601 in UTC; without `expires_at` it has no end
 * @param sent the number of reminders so far
 * @param after the reminder is later than this day, `YYYY-MM-DD`
 */
export function nextReminder(
  { created_at, expires_at }: { created_at: string; expires_at: string | null },
  sent: number,
  after: string,
): string | null {
  const [created_on, last_day] = [created_at.slice(0, 10), expires_at?.slice(0, 10)];
  const lifespan = last_day === undefined ? span_days : daysBetween(created_on, last_day);
  const days = reminderDays.map((day) => Math.ceil((Math.min(lifespan, span_days) * day) / span_days));
  const dates = [...new Set(days)].map((day) => daysAfter(created_on, day));
  return dates.slice(sent).find((date) => date > after && (last_day === undefined || date < last_day)) ?? null;
}
