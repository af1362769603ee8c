/** Comments in webhooks. */
import { sql } from 'kysely';
import { type TSchema, Type } from 'typebox';
import { membersInJson, plainColumns, rowInJson } from '../../../../db/index.ts';
import { AnyJson, Id, nullable, resource, Timestamp } from '../../../../http/index.ts';
import type { HookEventKind } from '../../../../services/index.ts';
import {
  type HookItem,
  HookPerson,
  HookProject,
  HookRepository,
  personRow,
  presentPerson,
  presentProject,
  presentRepository,
  projectRow,
} from '../../../activity/hooks/index.ts';
import { presentedEvent, type Refs, type Snapped } from '../../../instance/hook_events/index.ts';

/** A comment that was written or changed. */
export interface NoteNews {
  id: number;
  project_id: number;
  actor_id: number;
  action: 'create' | 'update';
  /** The id or the SHA of the commented item. */
  item: never;
}

const HookNote = resource('HookNote', {
  id: Id,
  note: Type.String(),
  description: Type.String(),
  author_id: nullable(Id),
  project_id: Id,
  noteable_type: Type.String(),
  noteable_id: nullable(Id),
  commit_id: nullable(Type.String()),
  discussion_id: Type.String(),
  type: nullable(Type.String()),
  system: Type.Boolean(),
  internal: Type.Boolean(),
  attachment: Type.Null(),
  line_code: nullable(Type.String()),
  position: AnyJson('The line of a diff, or null'),
  original_position: AnyJson('The line of a diff when the comment was written, or null'),
  resolved_at: nullable(Timestamp),
  resolved_by_id: nullable(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
  action: Type.Enum(['create', 'update']),
  url: Type.String({ format: 'uri' }),
});

const parts = {
  ...membersInJson('notes', HookNote.properties, [
    'note',
    'description',
    'project_id',
    'noteable_type',
    'noteable_id',
    'attachment',
    'line_code',
    'action',
    'url',
  ]),
  ...plainColumns('notes', ['body', 'diff_commit_id']),
};

const triggers = ['note_events', 'confidential_note_events'] as const;

/** What is snapped of a comment, by the noun of the commented item. */
export const noteTelling = (on: HookItem) => ({
  name: 'note',
  triggers,
  snapshot: (news: Refs<NoteNews>) => ({
    action: news.action,
    actor: personRow(news.actor_id),
    project: projectRow(news.project_id),
    note: rowInJson('notes', news.id, parts),
    on: sql<HookItem['member']>`${sql.lit(on.member)}::text`,
    item_id: news.item,
    item: on.part(news.item),
  }),
});

/** @param items the nouns whose comments trigger webhooks; a member of the body shows each, which is null for all but one */
export function noteEvent(items: readonly HookItem[]): HookEventKind {
  const body = resource('NoteHookBody', {
    object_kind: Type.Literal('note'),
    event_type: Type.Enum(['note', 'confidential_note']),
    user: HookPerson,
    project: HookProject,
    project_id: Id,
    object_attributes: HookNote,
    repository: HookRepository,
    ...(Object.fromEntries(items.map(({ member, schema }) => [member, nullable(schema)])) as unknown as Record<
      HookItem['member'],
      TSchema
    >),
  });
  const event = { name: 'note', summary: 'A comment was written or changed', triggers, body };
  return presentedEvent<Snapped<ReturnType<typeof noteTelling>>, typeof body>(
    event,
    async ({ action, actor, project, note, on, item_id, item: part }, services) => {
      const noun = items.find(({ member }) => member === on)!;
      const shown = await noun.present(part as never, project, services);
      const { kind } = noun;
      const attributes = {
        ...note,
        note: note.body,
        description: note.body,
        project_id: project.id,
        noteable_type: kind.type,
        noteable_id: 'table' in kind ? item_id : null,
        commit_id: note.commit_id ?? note.diff_commit_id,
        attachment: null,
        line_code: (note.position as { line_code?: string } | null)?.line_code ?? null,
        action,
        url: `${services.url}${kind.page(project.full_path, noun.name(part as never))}#note_${note.id}`,
      };
      return {
        object_kind: 'note',
        event_type: services.trigger === 'confidential_note_events' ? 'confidential_note' : 'note',
        user: presentPerson(actor, services),
        project: presentProject(project, services),
        project_id: project.id,
        object_attributes: attributes,
        repository: presentRepository(project, services),
        ...(Object.fromEntries(items.map(({ member }) => [member, member === on ? shown : null])) as unknown as Record<
          HookItem['member'],
          unknown
        >),
      };
    },
  );
}
