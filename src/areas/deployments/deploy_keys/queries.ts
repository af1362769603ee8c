/** Queries for deploy keys in replies. */
import { createHash } from 'node:crypto';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { both, countsToday, isReachableProject, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, found } from '../../../http/index.ts';
import { namespaceFullName } from '../../people/namespaces/index.ts';

export interface DeployKeyRow {
  id: number;
  title: string;
  key: string;
  fingerprint_sha256: string;
  created_at: string;
  expires_at: string | null;
  can_push: boolean;
}

/** The deploy keys of a project, oldest first. */
export const deployKeysOf = (db: Database, project_id: number) =>
  db
    .selectFrom('keys')
    .innerJoin('deploy_key_projects', 'deploy_key_projects.key_id', 'keys.id')
    .select(['keys.id', 'keys.title', 'keys.key', 'keys.fingerprint_sha256', 'keys.expires_at'])
    .select(['deploy_key_projects.created_at', 'deploy_key_projects.can_push'])
    .where('deploy_key_projects.project_id', '=', project_id)
    .orderBy('keys.id');

/** @throws ApiError 404 */
export const deployKeyOf = async (db: Database, project_id: number, key_id: number): Promise<DeployKeyRow> =>
  found(undefined, await deployKeysOf(db, project_id).where('keys.id', '=', key_id).executeTakeFirst());

/** A project as the list of all deploy keys shows it. */
interface ProjectOfKey {
  id: number;
  description: string | null;
  name: string;
  name_with_namespace: string;
  path: string;
  path_with_namespace: string;
  created_at: string;
}

export interface AnyDeployKeyRow extends Omit<DeployKeyRow, 'can_push'> {
  writing: ProjectOfKey[];
  reading: ProjectOfKey[];
}

/** The projects that have a key. @param which a predicate on rows of `projects` */
const projectsWith = (can_push: boolean, which: RawBuilder<unknown>) => sql<ProjectOfKey[]>`
  coalesce((select jsonb_agg(jsonb_build_object(
             'id', projects.id, 'description', projects.description, 'name', projects.name, 'path', projects.path,
             'name_with_namespace', ${namespaceFullName('namespaces')} || ' / ' || projects.name, 'path_with_namespace', projects.full_path,
             'created_at', to_char(projects.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by projects.id)
              from deploy_key_projects known join projects on projects.id = known.project_id join namespaces on namespaces.id = projects.namespace_id
             where known.key_id = keys.id and known.can_push = ${can_push} and ${which}), '[]')`;

/** All deploy keys of the server, oldest first. @param which the projects to show with them, as a predicate on `projects` */
export const allDeployKeys = (db: Database, which: RawBuilder<unknown> = sql`true`) =>
  db
    .selectFrom('keys')
    .select(['keys.id', 'title', 'key', 'fingerprint_sha256', 'keys.created_at', 'expires_at'])
    .select([projectsWith(true, which).as('writing'), projectsWith(false, which).as('reading')])
    .where('user_id', 'is', null)
    .orderBy('keys.id');

/** The deploy keys of the projects that both the user and the caller maintain, shown with these projects only. */
export function deployKeysShared(db: Database, caller: Caller, user_id: number) {
  const maintains = (id: number) =>
    sql<SqlBool>`exists (select from project_authorizations held where held.user_id = ${id} and held.project_id = projects.id
                                                         and held.access_level >= ${levels.maintainer} and ${countsToday('held')})`;
  const maintained = caller.admin ? maintains(user_id) : both(maintains(user_id), maintains(caller.id));
  const which = both(maintained, isReachableProject(caller));
  return allDeployKeys(db, which).where(
    sql<boolean>`exists (select from deploy_key_projects known join projects on projects.id = known.project_id where known.key_id = keys.id and ${which})`,
  );
}

/** The MD5 fingerprint of a key in the old OpenSSH format. */
export function md5Fingerprint(key: string): string {
  const bytes = Buffer.from(key.split(/\s+/)[1] ?? '', 'base64');
  return createHash('md5').update(bytes).digest('hex').match(/../g)!.join(':');
}
