/** Comments in webhooks. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { StoredKind } from '../../../../access/index.ts';
import { momentInJson } from '../../../../db/index.ts';
import { eventHead, type HookItem, pageFacts, repositoryFacts } from '../../../activity/hooks/index.ts';

/** The fields of a comment event that show the commented item. Fields of other nouns are null. */
const members = ['issue', 'merge_request', 'snippet', 'commit'] as const;

/** A comment that was written or changed. */
export interface CommentChange {
  id: number;
  project_id: number;
  actor_id: number;
  action: 'create' | 'update';
}

const isStored = (item: HookItem): item is HookItem<StoredKind> => 'table' in item.kind;

/**
 * A predicate on rows of `notes`: some readers of the project may not read the comment, since it is internal or on a
 * confidential item.
 */
export function isConfidentialNote(on: HookItem): RawBuilder<SqlBool> {
  if (!on.isConfidential || !isStored(on)) return sql`notes.internal`;
  const { kind, isConfidential } = on;
  return sql`(notes.internal or exists (
    select from ${sql.table(kind.table)} where ${sql.ref(`${kind.table}.id`)} = ${sql.ref(`notes.${kind.column}`)} and ${isConfidential}))`;
}

/** @param confidential whether some readers of the project may not read it */
export function noteFacts(
  on: HookItem,
  { id, project_id, actor_id, action }: CommentChange,
  confidential: boolean,
): RawBuilder<unknown> {
  const noteable_id = isStored(on) ? sql.ref(`notes.${on.kind.column}`) : sql`null`;
  const shown = members.map(
    (member) => sql`${sql.lit(member)}, ${on.member === member ? on.facts('notes') : sql`null`}`,
  );
  return sql`
  (select json_build_object(
     ${eventHead('note', confidential ? 'confidential_note' : 'note', actor_id, project_id)}, 'project_id', ${project_id}::bigint,
     'object_attributes', json_build_object(
       'id', notes.id, 'note', notes.body, 'description', notes.body, 'author_id', notes.author_id, 'project_id', ${project_id}::bigint,
       'noteable_type', ${sql.lit(on.kind.type)}, 'noteable_id', ${noteable_id}, 'commit_id', coalesce(notes.commit_id, notes.diff_commit_id),
       'discussion_id', notes.discussion_id, 'type', notes.type, 'system', notes.system, 'internal', notes.internal, 'attachment', null,
       'line_code', notes.position ->> 'line_code', 'position', notes.position, 'original_position', notes.original_position,
       'resolved_at', ${momentInJson('notes.resolved_at')}, 'resolved_by_id', notes.resolved_by_id,
       'created_at', ${momentInJson('notes.created_at')}, 'updated_at', ${momentInJson('notes.updated_at')}, 'action', ${sql.lit(action)},
       'url', ${pageFacts(on.kind.page, sql`${project_id}::bigint`, on.name('notes'), sql`'#note_' || notes.id`)}),
     'repository', ${repositoryFacts(project_id)}, ${sql.join(shown)})
     from notes where notes.id = ${id})`;
}
