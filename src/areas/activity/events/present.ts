/** How events appear in replies (docs/reference/events.md). */
import { type Static, type TSchema, Type } from 'typebox';
import { Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import type { EventRow } from './queries.ts';

const PushData = Type.Object({
  commit_count: Type.Integer(),
  action: Type.Enum(['created', 'removed', 'pushed']),
  ref_type: Type.Enum(['branch', 'tag']),
  commit_from: nullable(Type.String()),
  commit_to: nullable(Type.String()),
  ref: nullable(Type.String({ description: 'Null if the push moved many' })),
  commit_title: nullable(Type.String({ description: 'The first line of the last message, at most 70 characters' })),
  ref_count: nullable(Type.Integer({ description: 'How many branches or tags the push moved, if it moved many' })),
});

const WikiPage = Type.Object({
  format: Type.String(),
  slug: Type.String(),
  title: Type.String(),
  wiki_page_meta_id: Id,
});

/** @param note the form of comments */
export const eventForm = <N extends TSchema>(note: N) =>
  resource('Event', {
    id: Id,
    title: Type.Null(),
    project_id: Id,
    action_name: Type.String({ description: 'What was done, as in `opened`, `pushed to` or `commented on`' }),
    target_id: nullable(Id),
    target_iid: nullable(Type.Integer({ description: 'The number of the target, or its ID if it has none' })),
    target_type: nullable(Type.String({ description: 'Null for pushes' })),
    author_id: Id,
    target_title: nullable(Type.String({ description: 'For comments, the title of what they are on' })),
    created_at: Timestamp,
    note: optional(note),
    author: UserBasic,
    imported: Type.Boolean(),
    imported_from: Type.String(),
    push_data: optional(PushData),
    wiki_page: optional(WikiPage),
    author_username: Type.String(),
  });

export type EventReply = Static<ReturnType<typeof eventForm<TSchema>>>;

const pushNames = { created: 'pushed new', removed: 'deleted', pushed: 'pushed to' };

const names: Readonly<Record<string, string>> = {
  closed: 'closed',
  merged: 'accepted',
  joined: 'joined',
  left: 'left',
  expired: 'removed due to membership expiration from',
  destroyed: 'destroyed',
  commented: 'commented on',
  approved: 'approved',
};

function nameOf({ action, target_type, imported_from, push }: EventRow): string {
  if (push) return pushNames[push.action];
  if (target_type === 'WikiPage::Meta') return action;
  if (action === 'created' && target_type === 'Project') return imported_from === 'none' ? 'created' : 'imported';
  return names[action] ?? 'opened';
}

/**
 * @param url the external address of the server
 * @param note the comment that is the target
 */
export function presentEvent(url: string, row: EventRow, note: unknown): EventReply {
  const {
    id,
    project_id,
    target_id,
    target_type,
    target_iid,
    target_title,
    author_id,
    created_at,
    imported_from,
    push,
    wiki_page,
  } = row;
  return {
    id,
    title: null,
    project_id: project_id!,
    action_name: nameOf(row),
    target_id,
    target_iid: target_iid ?? target_id,
    target_type,
    author_id,
    target_title,
    created_at,
    ...(note ? { note } : {}),
    author: presentUserBasic(url, row.author),
    imported: imported_from !== 'none',
    imported_from,
    ...(push ? { push_data: push } : {}),
    ...(wiki_page ? { wiki_page } : {}),
    author_username: row.author.username,
  };
}
