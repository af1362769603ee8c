/** Notifications as mail (docs/reference/notifications.md#messages). */

import { capitalized } from '../../../http/index.ts';
import type { Mail, Paragraph } from '../../../mail/index.ts';
import { toHtml } from '../../../markdown/index.ts';
import type { JobServices } from '../../../services/index.ts';
import type { Addressee, Asked, Item, Parts } from './message_queries.ts';
import { eventRules, isFirst, type Reason, wordsFor } from './rules.ts';
import { unsubscribeUrl } from './unsubscribe_rules.ts';

/** `issue_12`, as the first message of a thread is identified. */
const threadOf = ({ kind, id }: Item): string => `${kind.reference}_${id}`;

const pageOf = (url: string, { kind, full_path, iid }: Item): string =>
  `${url}/${kind.places === 'projects' ? '' : 'groups/'}${full_path}${kind.page}${iid}`;

const prefixed = (facts: Record<string, string | number>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      ['X-Service-', 'X-Gitlab-'].map((prefix) => [`${prefix}${name}`, String(value)] as const),
    ),
  );

/** Headers that each recipient has of their own. */
const ownHeaders = (reason: Reason | null, unsubscribe: string): Record<string, string> => ({
  ...(reason === null ? {} : prefixed({ NotificationReason: reason })),
  'List-Unsubscribe': `<${unsubscribe}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

/** Headers by which mail programs sort. */
function headersOf({ event }: Asked, { item, note }: Parts, url: string): Record<string, string> {
  const { kind, id, iid, place_id, place_name, full_path, state, confidential } = item;
  const place: Record<string, string | number> =
    kind.places === 'projects'
      ? { Project: place_name, 'Project-Id': place_id, 'Project-Path': full_path }
      : { 'Group-Id': place_id, 'Group-Path': full_path };
  const facts: Record<string, string | number> = {
    ...place,
    [`${kind.type}-ID`]: id,
    [`${kind.type}-IID`]: iid,
    [`${kind.type}-State`]: state,
    ...(kind.type === 'Issue' ? { ConfidentialIssue: String(confidential) } : {}),
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

/** The text that is told, or who is now assigned. */
async function bodyOf({ event }: Asked, { item, note }: Parts): Promise<Paragraph[]> {
  const people = (names: string[]) => names.join(', ') || 'nobody';
  if (event.startsWith('reassign_')) return [{ facts: [['Assignees', people(item.assignees)]] }];
  if (event.startsWith('change_reviewer_')) return [{ facts: [['Reviewers', people(item.reviewers)]] }];
  const text = note ? note.body : isFirst(event) || event === 'mention' ? item.description : null;
  return text === null || text.trim() === '' ? [] : [{ text, html: await toHtml(text) }];
}

function sentenceFor(event: string, { actor, item: { kind, iid, title } }: Parts): string {
  const { did } = eventRules[event]!;
  const named = `${kind.name} ${kind.sign}${iid}`;
  return actor ? `${actor.name} (@${actor.username}) ${did} ${named}: ${title}` : `${capitalized(named)} ${did}: ${title}`;
}

/**
 * The message about news of an item. What all recipients get is made once.
 * @returns the message to one of them
 */
export async function letterOf(
  { url, secrets }: Pick<JobServices, 'url' | 'secrets'>,
  asked: Asked,
  parts: Parts,
): Promise<(to: Addressee) => Mail> {
  const { actor, item, note } = parts;
  const { kind, iid, title, place_name } = item;
  const thread = threadOf(item);
  const starts = isFirst(asked.event);
  const page = pageOf(url, item);
  const news: Paragraph[] = [
    sentenceFor(asked.event, parts),
    ...(await bodyOf(asked, parts)),
    { link: `View the ${kind.name}`, url: note ? `${page}#note_${note.id}` : page },
  ];
  const headers = headersOf(asked, parts, url);
  const shared = {
    ...(actor ? { sender: actor.name } : {}),
    id: starts ? thread : note ? `note_${note.id}` : asked.id,
    ...(starts ? {} : { thread }),
    subject: `${starts ? '' : 'Re: '}${place_name} | ${title} (${kind.sign}${iid})`,
  };
  return ({ user_id, name, address, reason }) => {
    const unsubscribe = unsubscribeUrl({ url, secrets }, { kind, user_id, item_id: item.id });
    const why = `You get this message because ${wordsFor(reason)}.`;
    return {
      ...shared,
      to: { name, address },
      paragraphs: [...news, why, { link: `Unsubscribe from this ${kind.name}`, url: unsubscribe }],
      headers: { ...headers, ...ownHeaders(reason, unsubscribe) },
    };
  };
}
