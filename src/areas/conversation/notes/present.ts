/** How notes appear in replies (discussions.md). */
import { type Static, Type } from 'typebox';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import type { NoteRow } from './queries.ts';

export const Note = resource('Note', {
  id: Id,
  type: nullable(Type.Enum(['DiscussionNote'], { description: 'Null for a comment outside a thread' })),
  body: Type.String(),
  attachment: Type.Null(),
  author: nullable(UserBasic),
  created_at: Timestamp,
  updated_at: Timestamp,
  system: Type.Boolean({ description: 'Whether the product wrote it' }),
  noteable_id: Id,
  noteable_type: Type.Enum(['Issue', 'Epic']),
  project_id: nullable(Id),
  noteable_iid: nullable(Type.Integer()),
  resolvable: Type.Boolean(),
  confidential: Type.Boolean({ description: 'Deprecated: `internal`' }),
  internal: Type.Boolean(),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  commands_changes: Type.Record(Type.String(), Type.Unknown(), { description: 'What quick actions in the text have changed' }),
});
export type NoteReply = Static<typeof Note>;

/**
 * @param url the external address of the server
 * @param commands_changes what quick actions in the text have changed, by attribute
 */
export function presentNote(url: string, row: NoteRow, commands_changes: Record<string, unknown> = {}): NoteReply {
  const { id, body, created_at, updated_at, system, internal, project_id } = row;
  return {
    id,
    type: row.type === null ? null : 'DiscussionNote',
    body,
    attachment: null,
    author: authorOf(url, row),
    created_at,
    updated_at,
    system,
    noteable_id: row.issue_id ?? row.epic_id!,
    noteable_type: row.issue_id === null ? 'Epic' : 'Issue',
    project_id,
    noteable_iid: row.issue_iid,
    resolvable: false,
    confidential: internal,
    internal,
    imported: false,
    imported_from: 'none',
    commands_changes,
  };
}

function authorOf(url: string, row: NoteRow): Static<typeof UserBasic> | null {
  if (row.author_id === null) return null;
  return presentUserBasic(url, {
    id: row.author_id,
    username: row.author_username!,
    name: row.author_name!,
    state: row.author_state!,
    public_email: row.author_public_email!,
  });
}
