/** Deploy tokens as credentials: they act for no user, and reach the code of one project or of all below one group. */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Caller, DeployReach } from '../http/endpoint.ts';
import { invalidToken, unauthorized } from '../http/errors.ts';
import type { Plan } from '../http/plans.ts';
import { isExpiredDeployToken } from './expiry.ts';
import { levels } from './levels.ts';
import { planInForce } from './plans.ts';
import { tokenDigest } from './tokens.ts';

interface DeployTokenRow {
  id: number;
  project_id: number | null;
  group_id: number | null;
  username: string;
  scopes: string[];
  expired: boolean;
  counted: boolean;
  plan: Plan;
}

const noLevel = 0;

/** Which deploy tokens a door or an endpoint accepts: only those with the username that Basic sends, or any. */
export type AcceptedDeployTokens = { username: string } | 'any';

/**
 * The caller for a deploy token. It has no user, so nothing beyond `deploys` is granted.
 * @param name the value of the token, or its ID
 * @throws ApiError 401 for unknown and expired tokens, and for those with another username
 */
export async function callerOfDeployToken(
  db: Kysely<DB>,
  name: string | number,
  accepted: AcceptedDeployTokens | undefined,
): Promise<Caller> {
  if (accepted === undefined) throw unauthorized();
  const { rows } = await sql<DeployTokenRow>`
    select id, username, scopes, project_id, group_id, ${isExpiredDeployToken} as expired,
           (select counts_requests from application_settings) as counted, ${planInForce} as plan
      from deploy_tokens
     where ${typeof name === 'number' ? sql`id = ${name}` : sql`token_digest = ${tokenDigest(name)}`}`.execute(db);
  const row = rows[0];
  if (!row || (accepted !== 'any' && accepted.username !== row.username)) throw unauthorized();
  if (row.expired) throw invalidToken('Token is expired. You can either do re-authorization or token refresh.');
  const { id, username, scopes, project_id, group_id, counted, plan } = row;
  const noUser = { id: 0, name: username, email: '', commit_email: '', state: 'active', admin: false, external: true };
  const token = { id, scopes, kind: 'deploy' as const };
  return { ...noUser, username, token, deploys: { project_id, group_id }, sudo: false, counted, plan };
}

/** The access level of a deploy token or deploy key in a project: that of a Reporter, of a Developer for a key that may push, or none. */
export async function deployLevel(
  db: Kysely<DB>,
  deploys: DeployReach,
  project: { id: number; namespace_id: number },
): Promise<number> {
  if ('key_id' in deploys) return keyLevel(db, deploys.key_id, project.id);
  const { project_id, group_id } = deploys;
  if (group_id === null) return project_id === project.id ? levels.reporter : noLevel;
  const { rows } = await sql`
    select from namespaces where id = ${project.namespace_id} and traversal_ids @> array[${group_id}::bigint]`.execute(
    db,
  );
  return rows.length > 0 ? levels.reporter : noLevel;
}

/** A key pushes on behalf of the user who added it, as long as that account is active. */
async function keyLevel(db: Kysely<DB>, key_id: number, project_id: number): Promise<number> {
  const { rows } = await sql<{ may_push: boolean }>`
    select can_push and exists (select from keys join users on users.id = keys.created_by_id where keys.id = key_id and users.state = 'active') as may_push
      from deploy_key_projects where key_id = ${key_id} and project_id = ${project_id}`.execute(db);
  if (!rows[0]) return noLevel;
  return rows[0].may_push ? levels.developer : levels.reporter;
}
