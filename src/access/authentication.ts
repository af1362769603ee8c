/** Who calls: the credential of a request becomes a caller, or a refusal that says what is wrong with it (conventions.md section 2). */
import type { FastifyRequest } from 'fastify';
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Caller, Services } from '../http/endpoint.ts';
import { forbidden, insufficientScope, invalidToken, notFound, unauthorized } from '../http/errors.ts';
import type { Values } from '../http/form.ts';
import { tokenDigest } from './tokens.ts';

/** A token's last use is written at most this often. */
const lastUse_minutes = 10;
const rememberedAddresses = 7;

interface Credential {
  token_id: number;
  scopes: string[];
  revoked: boolean;
  expired: boolean;
  impersonation: boolean;
  last_use_is_old: boolean;
  id: number;
  username: string;
  name: string;
  email: string;
  state: string;
  user_type: string;
  admin: boolean;
  external: boolean;
  confirmed: boolean;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The value of the credential that a request carries, if any; an empty one counts as none. */
function tokenValueOf(request: FastifyRequest, parameters: Values): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return text(parameters.private_token) ?? text(request.headers['private-token']) ?? bearer ?? text(parameters.access_token);
}

async function credentialOf(db: Kysely<DB>, value: string): Promise<Credential | undefined> {
  const { rows } = await sql<Credential>`
    select token.id as token_id, token.scopes, token.revoked, token.impersonation,
           coalesce(token.expires_at <= current_date, false) as expired,
           coalesce(token.last_used_at < now() - make_interval(mins => ${lastUse_minutes}), true) as last_use_is_old,
           users.id, users.username, users.name, users.email, users.state, users.user_type, users.admin, users.external,
           users.confirmed_at is not null as confirmed
      from personal_access_tokens token join users on users.id = token.user_id
     where token.token_digest = ${tokenDigest(value)}`.execute(db);
  return rows[0];
}

/**
 * Refuses users who may not use the server now.
 * @throws ApiError 403 with the reason
 */
function refuseInactive(user: Pick<Credential, 'state' | 'user_type' | 'confirmed'>, url: string): void {
  if (user.user_type === 'ghost') throw forbidden('This action cannot be performed by internal users');
  if (user.state === 'blocked_pending_approval')
    throw forbidden('Your account is pending approval from your administrator and hence blocked.');
  if (user.state === 'deactivated')
    throw forbidden(
      `Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account at ${url}`,
    );
  if (!user.confirmed)
    throw forbidden(
      'Your primary email address is not confirmed. Please check your inbox for the confirmation instructions. In case the link is expired, you can request a new confirmation email.',
    );
  if (user.state !== 'active') throw forbidden('Your account has been blocked.');
}

function callerFrom(row: Credential): Caller {
  const { id, username, name, email, state, admin, external } = row;
  const kind = row.impersonation ? 'impersonation' : 'personal';
  return { id, username, name, email, state, admin, external, token: { id: row.token_id, scopes: row.scopes, kind } };
}

async function rememberUse(db: Kysely<DB>, token_id: number, address: string): Promise<void> {
  await sql`
    update personal_access_tokens
       set last_used_at = now(),
           last_used_ips = (array_prepend(${address}::inet, array_remove(last_used_ips, ${address}::inet)))[1:${sql.lit(rememberedAddresses)}]
     where id = ${token_id}`.execute(db);
}

async function checkedCredential(services: Services, value: string, address: string): Promise<Credential> {
  const row = await credentialOf(services.db, value);
  if (!row) throw unauthorized();
  if (row.revoked) throw invalidToken('Token was revoked. You have to re-authorize from the user.');
  if (row.expired) throw invalidToken('Token is expired. You can either do re-authorization or token refresh.');
  refuseInactive(row, services.url);
  if (row.last_use_is_old) await rememberUse(services.db, row.token_id, address);
  return row;
}

/**
 * The caller that a token value stands for, for doors that take the value elsewhere (git over HTTP takes it as a password).
 * @param address where the request came from, an IP address
 * @throws ApiError 401 for an unknown, revoked or expired token, 403 for a user who is not active
 */
export async function callerOfToken(services: Services, value: string, address: string): Promise<Caller> {
  return callerFrom(await checkedCredential(services, value, address));
}

/** The user that an administrator acts as, by id or username. */
async function actAs(services: Services, caller: Caller, who: string): Promise<Caller> {
  if (!caller.admin) throw forbidden('Must be admin to use sudo');
  if (!caller.token.scopes.includes('sudo')) throw insufficientScope(['sudo']);
  const isId = /^\d{1,18}$/.test(who);
  const user = await services.db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email', 'state', 'user_type', 'admin', 'external'])
    .select(sql<boolean>`confirmed_at is not null`.as('confirmed'))
    .where(isId ? 'id' : 'username', '=', who as never)
    .executeTakeFirst();
  if (!user) throw notFound(`User with ID or username '${who}'`);
  refuseInactive(user, services.url);
  const { id, username, name, email, state, admin, external } = user;
  return { id, username, name, email, state, admin, external, token: caller.token };
}

/**
 * The caller of a request, or undefined when it carries no credential.
 * @param parameters query and body of the request, which may hold `private_token`, `access_token` and `sudo`
 * @throws ApiError 401 and 403 as conventions.md section 2 lists them
 */
export async function authenticate(request: FastifyRequest, parameters: Values, services: Services): Promise<Caller | undefined> {
  const value = tokenValueOf(request, parameters);
  const sudo = text(request.headers.sudo) ?? (parameters.sudo === undefined ? undefined : String(parameters.sudo));
  if (value === undefined) {
    if (sudo !== undefined) throw unauthorized();
    return undefined;
  }
  const caller = await callerOfToken(services, value, request.ip);
  return sudo === undefined ? caller : actAs(services, caller, sudo);
}
