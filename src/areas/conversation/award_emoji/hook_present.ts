/** Reactions in webhooks. */
import { sql } from 'kysely';
import { type TSchema, Type } from 'typebox';
import type { StoredKind } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import type { HookEventKind } from '../../../services/index.ts';
import {
  type HookItem,
  HookPerson,
  HookProject,
  personRow,
  presentPerson,
  presentProject,
  projectRow,
} from '../../activity/hooks/index.ts';
import { presentedEvent, type Refs, type Snapped } from '../../instance/hook_events/index.ts';

/** A reaction that was added or removed. */
interface AwardNews {
  id: number;
  name: string;
  project_id: number;
  user_id: number;
  created_at: string;
  updated_at: string;
  /** The comment that it is to, if it is to one. */
  note_id: number | null;
  action: 'award' | 'revoke';
  /** The id of the item that it is to, or that the comment is on. */
  item: never;
}

const triggers = ['emoji_events'] as const;

/** What is snapped of a reaction, by the noun of the item. */
export const awardTelling = (on: HookItem<StoredKind>) => ({
  name: 'emoji',
  triggers,
  snapshot: (news: Refs<AwardNews>) => ({
    id: news.id,
    name: news.name,
    created_at: momentInJson(news.created_at),
    updated_at: momentInJson(news.updated_at),
    note_id: news.note_id,
    action: news.action,
    user: personRow(news.user_id),
    project: projectRow(news.project_id),
    on: sql<HookItem['member']>`${sql.lit(on.member)}::text`,
    item_id: news.item,
    item: on.part(news.item),
  }),
});

/** The members that show the item, by the corresponding members in events about comments. */
const members = { issue: 'issue', merge_request: 'merge_request', snippet: 'project_snippet' } as const;
type Member = (typeof members)[keyof typeof members];

/** @param items the nouns whose reactions trigger webhooks; a member of the body shows each, which is null for all but one */
export function awardEvent(items: readonly HookItem<StoredKind>[]): HookEventKind {
  const nameOf = ({ member }: HookItem) => members[member as keyof typeof members];
  const body = resource('EmojiHookBody', {
    object_kind: Type.Literal('emoji'),
    event_type: Type.Enum(['award', 'revoke']),
    user: HookPerson,
    project_id: Id,
    project: HookProject,
    object_attributes: Type.Object({
      id: Id,
      user_id: Id,
      name: Type.String(),
      created_at: Timestamp,
      updated_at: Timestamp,
      action: Type.Enum(['award', 'revoke']),
      awardable_type: Type.String(),
      awardable_id: Id,
    }),
    ...(Object.fromEntries(items.map((item) => [nameOf(item), nullable(item.schema)])) as unknown as Record<
      Member,
      TSchema
    >),
  });
  const event = { name: 'emoji', summary: 'A reaction was added or removed', triggers, body };
  return presentedEvent<Snapped<ReturnType<typeof awardTelling>>, typeof body>(
    event,
    async ({ action, user, project, on, item_id, item, note_id, ...award }, services) => {
      const noun = items.find(({ member }) => member === on)!;
      const shown = await noun.present(item as never, project, services);
      return {
        object_kind: 'emoji',
        event_type: action,
        user: presentPerson(user, services),
        project_id: project.id,
        project: presentProject(project, services),
        object_attributes: {
          ...award,
          user_id: user.id,
          action,
          awardable_type: note_id === null ? noun.kind.type : 'Note',
          awardable_id: note_id ?? item_id,
        },
        ...(Object.fromEntries(items.map((each) => [nameOf(each), each === noun ? shown : null])) as unknown as Record<
          Member,
          unknown
        >),
      };
    },
  );
}
