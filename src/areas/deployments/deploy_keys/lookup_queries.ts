/** SSH keys by their id or fingerprint. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

interface ProjectOfKey {
  id: number;
  deploy_key_id: number;
  project_id: number;
  created_at: string;
  updated_at: string;
  can_push: boolean;
}

// The row that links a project and a key has no id of its own, and is never updated.
const projects = sql<ProjectOfKey[]>`
  coalesce((select jsonb_agg(jsonb_build_object(
              'id', known.project_id, 'deploy_key_id', known.key_id, 'project_id', known.project_id, 'can_push', known.can_push,
              'created_at', to_char(known.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'updated_at', to_char(known.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by known.project_id)
              from deploy_key_projects known where known.key_id = keys.id), '[]')`;

/** SSH keys of users, and deploy keys, which have a null `user_id`. */
export const allKeys = (db: Database) =>
  db
    .selectFrom('keys')
    .select([
      'id',
      'title',
      'key',
      'created_at',
      'expires_at',
      'last_used_at',
      'usage_type',
      'user_id',
      'created_by_id',
    ])
    .select(projects.as('deploy_keys_projects'));

/** The MD5 digest of a row of `keys`, as indexed by `keys_by_md5`. */
const md5 = sql<string>`md5_of_key(key)`;

/**
 * The key with a fingerprint.
 * @returns undefined if the text is not a fingerprint
 */
export function keysPrinted(db: Database, fingerprint: string) {
  const [, sha256] = /^SHA256:([\w+/]{43})=?$/.exec(fingerprint) ?? [];
  if (sha256 !== undefined) return allKeys(db).where('fingerprint_sha256', '=', sha256);
  const [, digits] = /^(?:MD5:)?([0-9a-f]{2}(?::[0-9a-f]{2}){15})$/i.exec(fingerprint) ?? [];
  return digits && allKeys(db).where(md5, '=', digits.replaceAll(':', '').toLowerCase());
}
