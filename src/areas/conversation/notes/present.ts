/** How notes appear in replies (docs/reference/notes.md). */
import { type Static, type TSchema, Type } from 'typebox';
import { noteableKinds, noteableOf, storedKinds } from '../../../access/index.ts';
import { byOutcome, deprecated, Id, IdOf, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import type { CommandOutcome } from '../quick_actions/actions.ts';
import type { Discussable } from './definition.ts';
import { Position } from './position_rules.ts';
import { isResolvable, type NoteRow } from './queries.ts';
import { Suggestion } from './suggestion_present.ts';

export const Note = resource('Note', {
  id: Id,
  type: nullable(Type.Enum(['DiscussionNote', 'DiffNote'], { description: 'Null for a comment outside a thread' })),
  body: Type.String(),
  attachment: Type.Null(),
  author: nullable(UserBasic),
  created_at: Timestamp,
  updated_at: Timestamp,
  system: Type.Boolean({ description: 'Whether it is a system note' }),
  noteable_id: nullable(IdOf({ description: 'Null for a commit' })),
  noteable_type: Type.Enum(noteableKinds.map(({ type }) => type)),
  project_id: nullable(Id),
  noteable_iid: nullable(Type.Integer()),
  commit_id: optional(
    nullable(
      Type.String({
        description: 'Only of notes on commits, and of those on diffs of merge requests: the commit, if one was named',
      }),
    ),
  ),
  position: optional(Position),
  original_position: optional(Position),
  suggestions: optional(Type.Array(Suggestion, { description: 'Only of notes on diffs of merge requests' })),
  resolvable: Type.Boolean({ description: 'Whether it is part of a thread on a merge request' }),
  resolved: optional(Type.Boolean({ description: 'Only of notes that can be resolved' })),
  resolved_by: optional(nullable(UserBasic)),
  resolved_at: optional(nullable(Timestamp)),
  confidential: deprecated('use `internal`', Type.Boolean()),
  internal: Type.Boolean(),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  commands_changes: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Changes made by quick actions in the text',
  }),
});
export type NoteReply = Static<typeof Note>;

/**
 * @param url the external address of the server
 * @param commands_changes the changes made by quick actions in the text, by attribute
 */
export function presentNote(url: string, row: NoteRow, commands_changes: Record<string, unknown> = {}): NoteReply {
  const { id, body, created_at, updated_at, system, internal, project_id } = row;
  const noteable = noteableOf(storedKinds, row);
  return {
    id,
    type: row.type,
    body,
    attachment: null,
    author: authorOf(url, row),
    created_at,
    updated_at,
    system,
    noteable_id: noteable?.id ?? null,
    noteable_type: noteable?.kind.type ?? 'Commit',
    project_id,
    noteable_iid: row.issue_iid,
    ...(row.commit_id === null ? {} : { commit_id: row.commit_id }),
    ...(row.position === null ? {} : { position: row.position }),
    ...(row.original_position === null
      ? {}
      : { original_position: row.original_position, commit_id: row.diff_commit_id }),
    ...(row.suggestions === null ? {} : { suggestions: row.suggestions }),
    ...resolutionOf(url, row),
    confidential: internal,
    internal,
    imported: row.imported_from !== 'none',
    imported_from: row.imported_from,
    commands_changes,
  };
}

function resolutionOf(url: string, row: NoteRow) {
  if (!isResolvable(row)) return { resolvable: false };
  const { resolved_at, resolved_by } = row;
  return {
    resolvable: true,
    resolved: resolved_at !== null,
    resolved_by: resolved_by && presentUserBasic(url, resolved_by),
    resolved_at,
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
    avatar: row.author_avatar,
  });
}

/** The reply to a text of quick actions only. */
const CommandsOnly = resource('CommandsOnly', {
  commands_changes: Type.Record(Type.String(), Type.Unknown(), { description: 'Changes by attribute' }),
  summary: Type.Array(Type.String()),
});

const onlyCommands = { 202: 'The text had only quick actions: they were executed, and no comment was created' };

/** The reply to a text on a noun: the resulting comment, or the effects of its quick actions. */
export function orCommands<S extends TSchema>(noun: Discussable, schema: S) {
  const both = Type.Union([schema, CommandsOnly]);
  return noun.quickActions ? byOutcome(both, onlyCommands) : byOutcome<S | typeof both>(schema, {});
}

/** The result of a text: a comment, and the effects of its quick actions. There is no comment if the text had quick actions only. */
export interface Written {
  note: NoteRow | undefined;
  commands: CommandOutcome | undefined;
}

/** The result of a text, as its comment or as the thread that it started. */
export function outcomeOf<T>(
  { note, commands }: Written,
  present: (note: NoteRow, changes: Record<string, unknown> | undefined) => T,
) {
  if (note) return { body: present(note, commands?.commands_changes) };
  const { commands_changes = {}, summary = [] } = commands ?? {};
  return { status: 202, body: { commands_changes, summary } };
}
