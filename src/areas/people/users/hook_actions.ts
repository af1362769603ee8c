/** System hook events of users (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { isUsableAccount } from '../../../access/index.ts';
import { type Database, membersInJson, plainColumns, rowInJson } from '../../../db/index.ts';
import { Id, optional, resource, Timestamp } from '../../../http/index.ts';
import { hookEvent, newsOf, type Refs, tellEach, toSystem } from '../../instance/hook_events/index.ts';

const events = ['user_create', 'user_destroy', 'user_failed_login', 'user_rename'] as const;
type Event = (typeof events)[number];

const UserBody = resource('UserHookBody', {
  event_name: Type.Enum(events),
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Type.String(),
  email: Type.String(),
  user_id: Id,
  username: Type.String(),
  state: optional(Type.String({ description: 'Of `user_failed_login`: why the user may not sign in' })),
  old_username: optional(Type.String({ description: 'Of `user_rename`' })),
});
const { created_at, updated_at, name, email, username } = UserBody.properties;

export const userEvent = hookEvent({
  name: 'user',
  summary: 'A user was created, renamed or deleted, or may not sign in',
  triggers: ['system_events'],
  snapshot: (news: Refs<{ id: number; event: Event; old_username: string | null }>) => ({
    event: news.event,
    old_username: news.old_username,
    user: rowInJson(
      'users',
      news.id,
      membersInJson('users', { id: Id, created_at, updated_at, name, email, username, state: Type.String() }),
    ),
  }),
  body: UserBody,
}).presentedBy(({ event, old_username, user: { state, ...user } }) => ({
  ...user,
  event_name: event,
  user_id: user.id,
  ...(event === 'user_failed_login' ? { state } : {}),
  ...(old_username === null ? {} : { old_username }),
}));

/**
 * @param tx the transaction of the change; for a deleted user, before the deletion
 * @param old_username the former username, if it has changed
 */
export const tellOfUser = (tx: Database, event: Event, user_id: number, old_username?: string): Promise<void> =>
  tellEach(
    tx,
    userEvent,
    newsOf(
      {
        ...toSystem,
        ...plainColumns('users', ['id']),
        event: sql<Event>`${event}::text`,
        old_username: sql<string | null>`${old_username ?? null}::text`,
      },
      sql`from users where users.id = ${user_id} and ${isUsableAccount}`,
    ),
  );
