/** SSH keys as credentials: they let their user fetch and push, and nothing else. */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Caller } from '../http/endpoint.ts';
import { unauthorized } from '../http/errors.ts';
import type { Plan } from '../http/plans.ts';
import type { Services } from '../services/index.ts';
import { gitScopes } from './basic.ts';
import { callerFrom, refuseInactive, type User, userColumns } from './callers.ts';
import { planInForce } from './plans.ts';

/** The last use of a key is updated at most this often. */
const lastUse_minutes = 10;

interface SshKeyRow extends User {
  key_id: number;
  deploys: boolean;
  counted: boolean;
  plan: Plan;
  last_use_is_old: boolean;
}

/** A predicate on rows of `keys`: the key lets its user connect today. */
const countsForSsh = sql`keys.usage_type <> 'signing' and coalesce(keys.expires_at > now(), true)`;

const fingerprintOf = (key: Buffer) => createHash('sha256').update(key).digest('base64').replace(/=+$/, '');

/**
 * The ID of the key that lets a user connect.
 * @param key its bytes, as in the second word of an `id_*.pub` file
 * @returns undefined for a key that no user has, that only signs, or that has expired
 */
export async function sshKeyOf({ db }: Pick<Services, 'db'>, key: Buffer): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from keys where fingerprint_sha256 = ${fingerprintOf(key)} and ${countsForSsh}`.execute(db);
  return rows[0]?.id;
}

async function recordUse(db: Kysely<DB>, { key_id, id, deploys }: SshKeyRow): Promise<void> {
  await sql`update keys set last_used_at = now() where id = ${key_id}`.execute(db);
  if (deploys) return;
  await sql`
    update users set last_activity_on = current_date where id = ${id} and last_activity_on is distinct from current_date`.execute(
    db,
  );
}

/**
 * The current state of a key's user; for a deploy key, a caller who reaches only its projects.
 * @param id ID of the key
 * @throws ApiError 401 when the key is gone or has expired, 403 with the reason for a user who is not active
 */
export async function callerOfSshKey(
  { db, url, geo }: Pick<Services, 'db' | 'url' | 'geo'>,
  id: number,
): Promise<Caller> {
  const { rows } = await sql<SshKeyRow>`
    select keys.id as key_id, keys.user_id is null as deploys, (select counts_requests from application_settings) as counted, ${planInForce} as plan,
           coalesce(keys.last_used_at < now() - make_interval(mins => ${sql.lit(lastUse_minutes)}), true) as last_use_is_old, ${userColumns}
      from keys left join users on users.id = coalesce(keys.user_id, keys.created_by_id)
     where keys.id = ${id} and ${countsForSsh}`.execute(db);
  const row = rows[0];
  if (!row) throw unauthorized();
  if (!row.deploys) refuseInactive(row, url);
  if (row.last_use_is_old && geo.role !== 'secondary') await recordUse(db, row);
  const { key_id, counted, plan } = row;
  const given = {
    token: { id: key_id, scopes: gitScopes.upload, kind: 'ssh_key' as const },
    sudo: false,
    counted,
    plan,
  };
  return row.deploys ? deployingCaller(row, given) : callerFrom(row, given, url);
}

/** Pushes are recorded for the user who added the key. Its username belongs to no user. */
function deployingCaller(
  { key_id, id }: SshKeyRow,
  given: Pick<Caller, 'token' | 'sudo' | 'counted' | 'plan'>,
): Caller {
  const username = `deploy-key-${key_id}`;
  const noUser = { name: username, email: '', commit_email: '', state: 'active', admin: false, external: true };
  return { ...noUser, ...given, id: id ?? 0, username, deploys: { key_id } };
}
