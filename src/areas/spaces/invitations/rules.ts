/** Rules of invitations and of their reminders (docs/reference/invitations.md). Pure functions. */
import { levels } from '../../../access/index.ts';
import { daysAfter, daysBetween } from '../../../cron/index.ts';
import type { EmailRefusal } from '../../instance/application_settings/index.ts';
import type { Actor, Source } from '../members/index.ts';

/** The most people that one request names. */
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
export function levelRefusal(source: Source, actor: Actor, access_level: number, withMinimal: boolean): string | undefined {
  const isTopLevelGroup = source.kind === 'group' && source.above.length === 0;
  if (access_level === 0 || (access_level === levels.minimal && !(isTopLevelGroup && withMinimal)))
    return 'Access level is not included in the list';
  return access_level > actor.access_level ? "the member access level can't be higher than the current user's one" : undefined;
}

const rules: Record<EmailRefusal, string> = {
  allowlist: 'check &#39;Allowed domains for sign-ups&#39;',
  denylist: 'check the &#39;Domain denylist&#39;',
  restrictions: 'check &#39;Email restrictions for sign-ups&#39;',
};

/** The text for an address that the sign-up restrictions exclude. Clients show it as HTML. */
export const emailRefusalText = (refusal: EmailRefusal, { kind }: Pick<Source, 'kind'>): string =>
  `The member's email address is not allowed for this ${kind}. Go to the &#39;Admin area &gt; Sign-up restrictions&#39;, and ${rules[refusal]}.`;

const reminderDays = [2, 5, 10];
/** The lifetime that these days are meant for. Invitations that expire sooner have them closer together. */
const span_days = 14;

/**
 * The day of the next reminder, or null when there is none: never on the day on which the invitation expires, or later.
 * @param created_on `YYYY-MM-DD`, like all days here
 * @param expires_at null: no end
 * @param sent the number of reminders so far
 * @param after the reminder is later than this day
 */
export function nextReminder(
  { created_on, expires_at }: { created_on: string; expires_at: string | null },
  sent: number,
  after: string,
): string | null {
  const lifespan = expires_at === null ? span_days : daysBetween(created_on, expires_at);
  const days = reminderDays.map((day) => Math.ceil((Math.min(lifespan, span_days) * day) / span_days));
  const dates = [...new Set(days)].map((day) => daysAfter(created_on, day));
  return dates.slice(sent).find((date) => date > after && (expires_at === null || date < expires_at)) ?? null;
}
