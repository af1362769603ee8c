/** What invitations may be, and when people are reminded of them (invitations.md). Pure functions. */
import { levels } from '../../../access/index.ts';
import type { EmailRefusal } from '../../instance/application_settings/index.ts';
import type { Actor, Source } from '../members/index.ts';

/** Most elements that one call names. */
export const maximumAtOnce = 100;
export const tooManyText = `Too many users specified (limit is ${maximumAtOnce})`;
export const lockedText = 'Membership is locked by a group above this project';
export const takenText = 'Invite email has already been taken';
export const botText = 'User project bots cannot be added to other groups / projects';

/** What nobody has accepted after so many days is removed. */
export const lifetime_days = 90;

/** Whether text is shaped like an address at all; otherwise the whole call is refused. */
export const looksLikeAddress = (text: string): boolean => /^[^@\s]+@[^@\s]+$/.test(text);

/**
 * Why nobody can be invited with a level, undefined when somebody can.
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

/** What is said of an address that a rule of the server keeps out; clients show it as HTML. */
export const emailRefusalText = (refusal: EmailRefusal, { kind }: Pick<Source, 'kind'>): string =>
  `The member's email address is not allowed for this ${kind}. Go to the &#39;Admin area &gt; Sign-up restrictions&#39;, and ${rules[refusal]}.`;

const reminderDays = [2, 5, 10];
/** The span that these days are meant for. An invitation that ends sooner has them closer together. */
const span_days = 14;
const day_ms = 86_400_000;

const dayAfter = (day: string, days: number) => new Date(Date.parse(day) + days * day_ms).toISOString().slice(0, 10);

/**
 * The day on which somebody is reminded next, null when he is not any more: never on the day on which the invitation ends, or after it.
 * @param created_on `YYYY-MM-DD`, like all days here
 * @param expires_at null: never
 * @param sent how many reminders there have been
 * @param after the day is later than this
 */
export function nextReminder(
  { created_on, expires_at }: { created_on: string; expires_at: string | null },
  sent: number,
  after: string,
): string | null {
  const lifespan = expires_at === null ? span_days : Math.round((Date.parse(expires_at) - Date.parse(created_on)) / day_ms);
  const days = reminderDays.map((day) => Math.ceil((Math.min(lifespan, span_days) * day) / span_days));
  const dates = [...new Set(days)].map((day) => dayAfter(created_on, day));
  return dates.slice(sent).find((date) => date > after && (expires_at === null || date < expires_at)) ?? null;
}
