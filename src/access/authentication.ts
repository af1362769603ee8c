/** Authentication: turns the credential of a request into a caller, or refuses it (docs/reference/access.md#credentials). */

import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { type DB, dataLoader, ofAnyLength, type Slots, statement } from '../db/index.ts';
import type { AccessCall, Authenticating, Caller, TokenKind } from '../http/endpoint.ts';
import { forbidden, insufficientScope, invalidToken, notFound, unauthorized } from '../http/errors.ts';
import type { Values } from '../http/form.ts';
import { idIn } from '../http/ids.ts';
import type { Plan } from '../http/plans.ts';
import type { Services } from '../services/index.ts';
import { callerFrom, refuseInactive, type User, userColumns } from './callers.ts';
import { type AcceptedDeployTokens, callerOfDeployToken } from './deploy_tokens.ts';
import { countsToday } from './expiry.ts';
import { acceptsJobTokens, callerOfJobToken, jobTokenUsername } from './job_tokens.ts';
import { planInForce } from './plans.ts';
import { keptWithRights } from './rights_version.ts';
import { tokenDigest } from './tokens.ts';

/** The last use of a token is updated at most this often. */
const lastUse_minutes = 10;
const recordedAddresses = 7;

interface Credential extends User {
  token_id: number;
  digest: string;
  scopes: string[];
  revoked: boolean;
  expired: boolean;
  kind: TokenKind;
  counted: boolean;
  last_use_is_old: boolean;
  /** Whether tokens of this kind are switched off. */
  disabled: boolean;
  plan: Plan;
}

const kind = sql<TokenKind>`
  case when users.user_type <> 'project_bot' then case when token.impersonation then 'impersonation' else 'personal' end
       when exists (select from access_token_bots where user_id = users.id and group_id is not null) then 'group' else 'project' end`;

/** The value of a parameter; empty text and null become undefined. */
const given = (value: unknown): unknown => (value === '' || value === null ? undefined : value);

/**
 * The token value of a request, if any, and whether it was sent as the token of a job.
 * @throws ApiError 401 for a value that cannot be a token
 */
function tokenValueOf(
  { headers }: FastifyRequest,
  parameters: Values,
): { value: string | undefined; isOfJob: boolean } {
  const bearer = /^Bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  const value =
    given(parameters.private_token) ??
    given(headers['private-token']) ??
    given(bearer) ??
    given(parameters.access_token);
  const job = given(parameters.job_token) ?? given(headers['job-token']);
  const sent = value ?? job;
  if (sent !== undefined && typeof sent !== 'string') throw unauthorized();
  return { value: sent, isOfJob: value === undefined && job !== undefined };
}

/** Identifies a token: its value, or its ID for credentials that were derived from it. */
type TokenName = string | number;

const credentials = sql`
  select token.id as token_id, encode(token.token_digest, 'hex') as digest, token.scopes, token.revoked, ${kind} as kind,
         (select counts_requests from application_settings) as counted, ${planInForce} as plan,
         not ${countsToday('token')} as expired,
         users.last_activity_on is distinct from current_date
           or coalesce(token.last_used_at < now() - make_interval(mins => ${sql.lit(lastUse_minutes)}), true) as last_use_is_old,
         users.user_type = 'human' and not token.impersonation and (select disable_personal_access_tokens from application_settings) as disabled,
         ${userColumns}
    from personal_access_tokens token join users on users.id = token.user_id`;

const credentialsOf = statement(
  ({ digests }: Slots<{ digests: readonly Buffer[] }>) =>
    sql<Credential>`${credentials} where token.token_digest = any(${ofAnyLength(digests, 'bytea[]')})`,
);

const hexadecimal = (digest: Buffer) => digest.toString('hex');

/** Credentials by the digest of the token value. */
const credentialOfDigest = keptWithRights(
  'credential',
  hexadecimal,
  dataLoader<Buffer, Credential>(
    hexadecimal,
    async (db, digests) => new Map((await credentialsOf(db, { digests })).map((row) => [row.digest, row])),
  ),
  ({ last_use_is_old }) => !last_use_is_old,
);

/** The same lookup for OAuth tokens, which last for hours. */
async function oauthCredential(db: Kysely<DB>, name: TokenName): Promise<Credential | undefined> {
  const { rows } = await sql<Credential>`
    select token.id as token_id, '' as digest, token.scopes, token.revoked, 'oauth' as kind,
           (select counts_requests from application_settings) as counted, ${planInForce} as plan,
           token.expires_at <= now() as expired, false as disabled,
           users.last_activity_on is distinct from current_date
             or coalesce(token.last_used_at < now() - make_interval(mins => ${sql.lit(lastUse_minutes)}), true) as last_use_is_old,
           ${userColumns}
      from oauth_tokens token join users on users.id = token.user_id
     where ${typeof name === 'number' ? sql`token.id = ${name}` : sql`token.token_digest = ${tokenDigest(name)}`}`.execute(
    db,
  );
  return rows[0];
}

async function credentialNumbered(db: Kysely<DB>, id: number): Promise<Credential | undefined> {
  const { rows } = await sql<Credential>`${credentials} where token.id = ${id}`.execute(db);
  return rows[0];
}

/**
 * @param address an IP address, or other text from a proxy
 */
async function recordUse(db: Kysely<DB>, { token_id, id, kind: of }: Credential, address: string): Promise<void> {
  const [plain = ''] = address.split('%', 1);
  const ip = isIP(plain) === 0 ? null : plain;
  if (of === 'oauth') await sql`update oauth_tokens set last_used_at = now() where id = ${token_id}`.execute(db);
  else
    await sql`
    update personal_access_tokens
       set last_used_at = now(),
           last_used_ips = case when ${ip}::inet is null then last_used_ips else
             (array_prepend(${ip}::inet, array_remove(last_used_ips, ${ip}::inet)))[1:${sql.lit(recordedAddresses)}] end
     where id = ${token_id}`.execute(db);
  await sql`
    update users set last_activity_on = current_date where id = ${id} and last_activity_on is distinct from current_date`.execute(
    db,
  );
}

/** Revokes a token with its whole chain of rotations. */
async function revokeFamily(db: Kysely<DB>, token_id: number): Promise<void> {
  await sql`
    update personal_access_tokens set revoked = true
     where not revoked
       and coalesce(family_id, id) = (select coalesce(family_id, id) from personal_access_tokens where id = ${token_id})`.execute(
    db,
  );
}

interface Use {
  /** The client's address. */
  address: string;
  /** Whether the request rotates a token. */
  isRotation: boolean;
  /** The deploy tokens that are accepted too; none by default. */
  deploy_tokens?: AcceptedDeployTokens | undefined;
  rightsVersion?: AccessCall['rightsVersion'] | undefined;
}

const credentialNamed = async (
  db: Kysely<DB>,
  name: TokenName,
  { rightsVersion }: Use,
): Promise<Credential | undefined> =>
  (await (typeof name === 'string'
    ? credentialOfDigest(db, tokenDigest(name), await rightsVersion?.())
    : credentialNumbered(db, name))) ?? oauthCredential(db, name);

async function checkCredential(services: Services, row: Credential, { address, isRotation }: Use): Promise<void> {
  // If a revoked token is used for a rotation, it was leaked, and the newer token may be the thief's.
  if (row.revoked && isRotation) await revokeFamily(services.db, row.token_id);
  if (row.revoked) throw invalidToken('Token was revoked. You have to re-authorize from the user.');
  if (row.expired) throw invalidToken('Token is expired. You can either do re-authorization or token refresh.');
  if (row.disabled) throw unauthorized();
  refuseInactive(row, services.url);
  if (row.last_use_is_old && services.geo.role !== 'secondary') await recordUse(services.db, row, address);
}

interface GivenToken {
  value: string;
  username: string;
  address: string;
  /** What the token of a job may be used for there; by default, fetching code. */
  job_scopes?: readonly string[];
}

/**
 * The caller of a token value, for doors that receive it elsewhere (git over HTTP receives it as a password).
 * @param address the client's IP address
 * @param username sent with the token; it must match for deploy tokens and for tokens of jobs
 * @throws ApiError 401 for an unknown, revoked or expired token, 403 for a user who is not active
 */
export const callerOfToken = (
  services: Services,
  { value, username, address, job_scopes = ['write_repository'] }: GivenToken,
): Promise<Caller> =>
  username === jobTokenUsername
    ? callerOfJobToken(services, value, job_scopes)
    : callerOf(services, value, { address, isRotation: false, deploy_tokens: { username } });

/**
 * The caller of a token, for a credential that was derived from it and ends with it.
 * @param id ID of the token
 * @param address the client's IP address
 * @throws ApiError as `callerOfToken`
 */
export const callerOfTokenNumbered = (services: Services, id: number, address: string): Promise<Caller> =>
  callerOf(services, id, { address, isRotation: false, deploy_tokens: 'any' });

async function callerOf(services: Services, name: TokenName, use: Use): Promise<Caller> {
  const row = await credentialNamed(services.db, name, use);
  if (!row) return callerOfDeployToken(services.db, name, use.deploy_tokens);
  await checkCredential(services, row, use);
  const { token_id, scopes, kind, counted, plan } = row;
  return callerFrom(row, { token: { id: token_id, scopes, kind }, sudo: false, counted, plan }, services.url);
}

/**
 * A caller as they are now, for decisions later in the same request.
 * @throws ApiError 401 when the token is no longer valid or the user no longer active
 */
export async function callerNow(db: Kysely<DB>, caller: Caller): Promise<Caller> {
  const { id, kind } = caller.token;
  const tokens =
    kind === 'session'
      ? sql`select user_id from web_sessions where id = ${id}`
      : kind === 'password'
        ? sql`select ${caller.id}::bigint as user_id`
        : kind === 'job'
          ? sql`
            select user_id from commit_statuses join job_runs on job_id = commit_statuses.id where job_id = ${id} and ended_at is null`
          : sql`
            select user_id from personal_access_tokens where id = ${id} and not revoked and ${countsToday()}
            union all
            select user_id from oauth_tokens where id = ${id} and not revoked and expires_at > now()`;
  const { rows } = await sql<Pick<Caller, 'admin' | 'external'>>`
    select users.admin, users.external
      from (${tokens}) token
           join users holder on holder.id = token.user_id join users on users.id = ${caller.id}
     where holder.state = 'active' and users.state = 'active' and (holder.id = users.id or holder.admin)`.execute(db);
  if (!rows[0]) throw unauthorized();
  return { ...caller, ...rows[0], ...(kind === 'job' && { admin: false }) };
}

async function userNamed(db: Kysely<DB>, id_or_username: string): Promise<User | undefined> {
  if (id_or_username.includes('\0')) return undefined; // PostgreSQL accepts none in texts
  const id = idIn(id_or_username);
  const { rows } = await sql<User>`
    select ${userColumns} from users
     where ${id === undefined ? sql`username = ${id_or_username}` : sql`id = ${id}`}`.execute(db);
  return rows[0];
}

/** The user that an administrator acts as, by ID or username. */
async function actAs(services: Services, caller: Caller, who: string): Promise<Caller> {
  if (!caller.admin) throw forbidden('Must be admin to use sudo');
  if (!caller.token.scopes.includes('sudo')) throw insufficientScope(['sudo']);
  const user = await userNamed(services.db, who);
  if (!user) throw notFound(`User with ID or username '${who}'`);
  refuseInactive(user, services.url);
  const { id, name, email } = caller;
  return callerFrom(user, { ...caller, sudo: true, administrator: { id, name, email } }, services.url);
}

/**
 * The caller of a request, or undefined without a credential.
 * @param parameters query and body of the request, which may have `private_token`, `access_token` and `sudo`
 * @param endpoint `operation` decides whether job tokens are accepted; `rotation` is true when the endpoint rotates a token, `deploy_tokens` when it accepts them; with `rightsVersion`, cached results are used
 * @throws ApiError 401 and 403 (docs/reference/access.md#refusals)
 */
export async function authenticate(
  request: FastifyRequest,
  parameters: Values,
  services: Services,
  { rotation, deploy_tokens, operation, rightsVersion }: Authenticating = {},
): Promise<Caller | undefined> {
  const { value, isOfJob } = tokenValueOf(request, parameters);
  const sudo = given(parameters.sudo) ?? given(request.headers.sudo);
  if (value === undefined) {
    if (sudo !== undefined) throw unauthorized();
    return undefined;
  }
  if (isOfJob) {
    const job = await callerOfJobToken(services, value, ['api']);
    if (!acceptsJobTokens(operation)) throw forbidden();
    return job;
  }
  const caller = await callerOf(services, value, {
    address: request.ip,
    isRotation: rotation === true,
    deploy_tokens: deploy_tokens && 'any',
    rightsVersion,
  });
  return sudo === undefined ? caller : actAs(services, caller, String(sudo));
}

/**
 * A user as jobs act for them, with their rights at that time.
 * @returns undefined when the user is gone or not active any more
 */
export async function callerInJob(
  { db, url }: Pick<Services, 'db' | 'url'>,
  user_id: number,
): Promise<Caller | undefined> {
  const { rows } = await sql<User & { plan: Plan }>`
    select ${userColumns}, ${planInForce} as plan from users where users.id = ${user_id} and users.state = 'active'`.execute(
    db,
  );
  const [user] = rows;
  const token = { id: 0, scopes: ['api'], kind: 'personal' as const };
  return user && callerFrom(user, { token, sudo: false, counted: false, plan: user.plan }, url);
}
