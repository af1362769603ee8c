/** System hook events of SSH keys (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** @param tx the transaction of the change; for a deleted key, before the deletion */
export const tellOfKey = (tx: Database, event: 'key_create' | 'key_destroy', id: number): Promise<void> =>
  tellEach(tx, {
    trigger: null,
    to_system: true,
    rows: sql`
      select null::bigint as project_id, '{}'::bigint[] as group_ids, keys.id, keys.key, keys.created_at, users.username
        from keys join users on users.id = keys.user_id where keys.id = ${id}`,
    facts: sql`json_build_object('event_name', ${sql.lit(event)}, 'created_at', ${momentInJson('news.created_at')},
      'updated_at', ${momentInJson('news.created_at')}, 'username', news.username, 'key', news.key, 'id', news.id)`,
  });
