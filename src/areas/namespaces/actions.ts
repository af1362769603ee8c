/** Complete changes of the tree of namespaces. */
import { sql } from 'kysely';
import type { Database } from '../../db/index.ts';

/**
 * Adds the namespace of a user's own projects. It is named after him and not shown to others than him.
 * @param tx the transaction that adds the user
 */
export async function addUserNamespace(tx: Database, owner_id: number, username: string, name: string): Promise<void> {
  await sql`
    with fresh as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, name, path, full_path, traversal_ids, owner_id, visibility)
    overriding system value
    select id, 'user', ${name}, ${username}, ${username}, array[id], ${owner_id}, 'public' from fresh`.execute(tx);
}
