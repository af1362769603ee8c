/** Queries for mirrors and their encrypted logins. */
import type { Selectable } from 'kysely';
import { type Database, type DB, eachRow } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import type { Login } from './rules.ts';

const purpose = 'mirror login';

export type RemoteMirrorRow = Selectable<DB['remote_mirrors']>;
export type PullMirrorRow = Selectable<DB['pull_mirrors']>;

/** The encrypted form of a login. */
export const sealedLogin = (secrets: Secrets, login: Login): Buffer | null =>
  Object.keys(login).length === 0 ? null : secrets.seal(purpose, JSON.stringify(login));

/** Decrypts a stored login; undefined if it was sealed with another secret key. */
export function loginIn(secrets: Secrets, sealed: Buffer | null): Login | undefined {
  if (sealed === null) return {};
  const text = secrets.unseal(purpose, sealed);
  return text === undefined ? undefined : (JSON.parse(text) as Login);
}

/** The push mirrors of a project, oldest first. */
export const remoteMirrorsOf = (db: Database, project_id: number) =>
  db.selectFrom('remote_mirrors').selectAll().where('project_id', '=', project_id).orderBy('id');

/** @throws ApiError 404 */
export const remoteMirrorOf = async (db: Database, project_id: number, id: number): Promise<RemoteMirrorRow> =>
  found(undefined, await remoteMirrorsOf(db, project_id).where('id', '=', id).executeTakeFirst());

/** The pull mirror of a project. */
export const pullMirrorOf = (db: Database, project_id: number): Promise<PullMirrorRow | undefined> =>
  db.selectFrom('pull_mirrors').selectAll().where('project_id', '=', project_id).executeTakeFirst();

/** The mirrors of a kind whose login cannot be decrypted, because it was sealed with another secret key or is damaged. */
export async function* brokenMirrors(
  db: Database,
  secrets: Secrets,
  table: 'remote_mirrors' | 'pull_mirrors',
): AsyncGenerator<{ id: number; project_id: number }> {
  const rows = eachRow((last) =>
    db.selectFrom(table).select(['id', 'project_id', 'login']).where('id', '>', last).orderBy('id'),
  );
  for await (const row of rows) if (loginIn(secrets, row.login) === undefined) yield row;
}
