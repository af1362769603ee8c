/** Reading applications. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Who an application belongs to: a user, a group, or the instance. */
export type Owner = { user_id: number } | { group_id: number } | 'instance';

/** Applications as they are shown. */
const applicationsIn = (db: Database) =>
  db.selectFrom('oauth_applications').select(['id', 'uid', 'name', 'redirect_uri', 'confidential', 'scopes']);

/** The applications of an owner, in the order of their creation. */
export function applicationsOf(db: Database, owner: Owner) {
  const all = applicationsIn(db).orderBy('oauth_applications.id');
  if (owner === 'instance') return all.where('user_id', 'is', null).where('group_id', 'is', null);
  return 'user_id' in owner ? all.where('user_id', '=', owner.user_id) : all.where('group_id', '=', owner.group_id);
}

/** On rows of `oauth_applications`: the name of the user or the path of the group that registered it; null for the instance. */
export const ownerName = sql<string | null>`
  coalesce((select '@' || username from users where users.id = oauth_applications.user_id),
           (select full_path from namespaces where namespaces.id = oauth_applications.group_id))`;

/** An application as the flows of OAuth need it. */
export interface Client {
  id: number;
  uid: string;
  secret_digest: Buffer;
  name: string;
  redirect_uri: string;
  scopes: string[];
  confidential: boolean;
  trusted: boolean;
  /** The name of the user or the path of the group that registered it; null for the instance. */
  owner: string | null;
}

/** @param uid the `client_id`, or any other text */
export async function clientNamed(db: Database, uid: string): Promise<Client | undefined> {
  if (!/^[0-9a-f]{64}$/.test(uid)) return undefined;
  const { rows } = await sql<Client>`
    select id, uid, secret_digest, name, redirect_uri, scopes, confidential, trusted,
           ${ownerName} as owner
      from oauth_applications where uid = ${uid}`.execute(db);
  return rows[0];
}
