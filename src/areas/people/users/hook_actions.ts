/** System hook events of users (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import { isUsableAccount } from '../../../access/index.ts';
import { type Database, momentInJson } from '../../../db/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/**
 * @param tx the transaction of the change; for a deleted user, before the deletion
 * @param old_username the former username, if it has changed
 */
export const tellOfUser = (
  tx: Database,
  event: 'user_create' | 'user_destroy' | 'user_failed_login' | 'user_rename',
  user_id: number,
  old_username?: string,
): Promise<void> =>
  tellEach(tx, {
    trigger: null,
    to_system: true,
    rows: sql`
      select null::bigint as project_id, '{}'::bigint[] as group_ids, id, name, username, email, state, created_at, updated_at from users
       where id = ${user_id} and ${isUsableAccount}`,
    facts: sql`json_build_object(
      'event_name', ${sql.lit(event)}, 'created_at', ${momentInJson('news.created_at')}, 'updated_at', ${momentInJson('news.updated_at')},
      'name', news.name, 'email', news.email, 'user_id', news.id, 'username', news.username
      ${event === 'user_failed_login' ? sql`, 'state', news.state` : sql``} ${old_username === undefined ? sql`` : sql`, 'old_username', ${old_username}::text`})`,
  });
