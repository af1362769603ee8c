/** Notifications as mail (docs/reference/notifications.md#messages). */
import { uploadsPath } from '../../../access/index.ts';
import { capitalized } from '../../../http/index.ts';
import type { Mail, Paragraph } from '../../../mail/index.ts';
import { toHtml, withoutHtmlImages } from '../../../markdown/index.ts';
import type { JobServices } from '../../../services/index.ts';
import type { Addressee, Parts, StoredNotification } from './message_queries.ts';
import { mailEvents, type Reason, wordsFor } from './rules.ts';
import { unsubscribeUrl } from './unsubscribe_rules.ts';

const prefixed = (facts: Record<string, string | number>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      ['X-Service-', 'X-Gitlab-'].map((prefix) => [`${prefix}${name}`, String(value)] as const),
    ),
  );

/** The headers that differ by recipient. */
const ownHeaders = (reason: Reason | null, unsubscribe: string | undefined): Record<string, string> => ({
  ...(reason === null ? {} : prefixed({ NotificationReason: reason })),
  ...(unsubscribe === undefined
    ? {}
    : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
});

/** Headers by which mail clients sort. */
function headersOf({ event }: StoredNotification, { item, note }: Parts, url: string): Record<string, string> {
  const { subject, place_id, place_name, full_path } = item;
  const facts: Record<string, string | number> = {
    ...(subject.is_in_group
      ? { 'Group-Id': place_id, 'Group-Path': full_path }
      : { Project: place_name, 'Project-Id': place_id, 'Project-Path': full_path }),
    ...item.facts,
    ...(note ? { 'Discussion-ID': note.discussion_id, 'Note-ID': note.id } : {}),
    Event: event,
  };
  const reversed = full_path.split('/').reverse().join('.');
  return {
    ...prefixed(facts),
    'List-Id': `${full_path} <${place_id}.${reversed}.${new URL(url).hostname}>`,
    'X-Auto-Response-Suppress': 'All',
  };
}

/**
 * The text of the message, or the new assignees.
 * @param url the external address of this server. Images from other servers would reveal to them when a message is
 * read, and by whom.
 */
async function bodyOf({ event }: StoredNotification, { item, note }: Parts, url: string): Promise<Paragraph[]> {
  if (item.details) return [{ facts: item.details }];
  const people = (names: string[] = []) => names.join(', ') || 'nobody';
  if (event.startsWith('reassign_')) return [{ facts: [['Assignees', people(item.assignees)]] }];
  if (event.startsWith('change_reviewer_')) return [{ facts: [['Reviewers', people(item.reviewers)]] }];
  const place = item.subject.is_in_group ? 'group' : 'project';
  const text = note ? note.body : mailEvents[event]!.starts || event === 'mention' ? item.description : null;
  if (text === null || text.trim() === '') return [];
  const context = { uploads: url + uploadsPath(place, item.place_id), images_of: url, is_mail: true } as const;
  return [{ text: await withoutHtmlImages(text), html: await toHtml(text, context) }];
}

function sentenceFor(event: string, { actor, item: { name, label, title } }: Parts): string {
  const { did } = mailEvents[event]!;
  const named = `${name} ${label}`;
  const ending = title === null ? '' : `: ${title}`;
  return actor
    ? `${actor.name} (@${actor.username}) ${did} ${named}${ending}`
    : `${capitalized(named)} ${did}${ending}`;
}

/**
 * The message about an event of an item. The part that is the same for all recipients is built once.
 * @returns builds the message for one of them
 */
export async function messageFor(
  { url, secrets }: Pick<JobServices, 'url' | 'secrets'>,
  asked: StoredNotification,
  parts: Parts,
): Promise<(to: Addressee) => Mail> {
  const { actor, item, note } = parts;
  const { subject, name, label, title, thread } = item;
  const { starts } = mailEvents[asked.event]!;
  const page = `${url}${item.page}`;
  const news: Paragraph[] = [
    sentenceFor(asked.event, parts),
    ...(await bodyOf(asked, parts, url)),
    { link: `View the ${name}`, url: note ? `${page}#note_${note.id}` : page },
  ];
  const headers = headersOf(asked, parts, url);
  const shared = {
    ...(actor ? { sender: actor.name } : {}),
    id: starts ? thread : note ? `note_${note.id}` : asked.id,
    ...(starts ? {} : { thread }),
    subject:
      title === null
        ? `${item.place_name} | ${capitalized(name)} was moved`
        : `${starts ? '' : 'Re: '}${item.place_name} | ${title} (${label})`,
  };
  return ({ user_id, name: recipient, address, reason }) => {
    const { subscribable } = subject;
    const unsubscribe = subscribable && unsubscribeUrl({ url, secrets }, { ...subscribable, user_id });
    const end: Paragraph[] =
      unsubscribe === undefined ? [] : [{ link: `Unsubscribe from this ${name}`, url: unsubscribe }];
    return {
      ...shared,
      to: { name: recipient, address },
      paragraphs: [...news, `You get this message because ${wordsFor(reason)}.`, ...end],
      headers: { ...headers, ...ownHeaders(reason, unsubscribe) },
    };
  };
}

/** The texts of administrators above and below mail. */
export interface Frame {
  header_message: string;
  footer_message: string;
  email_header_and_footer_enabled: boolean;
}

/** Adds the texts of administrators to messages, if these are enabled. */
export function framed(mailTo: (to: Addressee) => Mail, frame: Frame): (to: Addressee) => Mail {
  if (!frame.email_header_and_footer_enabled) return mailTo;
  const [above, below] = [frame.header_message, frame.footer_message].map((text) => (text === '' ? [] : [text]));
  return (to) => {
    const mail = mailTo(to);
    return { ...mail, paragraphs: [...above!, ...mail.paragraphs, ...below!] };
  };
}
