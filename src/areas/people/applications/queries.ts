/** Reading applications. */
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
