/** System hook events of SSH keys (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, momentInJson, plainColumns, rowInJson } from '../../../db/index.ts';
import { Id, resource, Timestamp } from '../../../http/index.ts';
import { hookEvent, newsOf, type Refs, tellEach, toSystem } from '../../instance/hook_events/index.ts';

type Event = 'key_create' | 'key_destroy';

export const keyEvent = hookEvent({
  name: 'key',
  summary: 'An SSH key was added or deleted',
  triggers: ['system_events'],
  snapshot: (news: Refs<{ id: number; event: Event }>) => ({
    event: news.event,
    key: rowInJson(
      'keys',
      news.id,
      {
        ...plainColumns('keys', ['id', 'key']),
        ...plainColumns('users', ['username']),
        created_at: momentInJson('keys.created_at'),
      },
      sql`join users on users.id = keys.user_id`,
    ),
  }),
  body: resource('KeyHookBody', {
    event_name: Type.Enum(['key_create', 'key_destroy']),
    created_at: Timestamp,
    updated_at: Timestamp,
    username: Type.String(),
    key: Type.String(),
    id: Id,
  }),
}).presentedBy(({ event, key }) => ({ ...key, event_name: event, updated_at: key.created_at }));

/** @param tx the transaction of the change; for a deleted key, before the deletion */
export const tellOfKey = (tx: Database, event: Event, id: number): Promise<void> =>
  tellEach(
    tx,
    keyEvent,
    newsOf(
      { ...toSystem, ...plainColumns('keys', ['id']), event: sql<Event>`${event}::text` },
      sql`from keys join users on users.id = keys.user_id where keys.id = ${id}`,
    ),
  );
