/** Callers who are users: what is read of a user with the credential, and who is refused. */
import { sql } from 'kysely';
import type { Caller } from '../http/endpoint.ts';
import { forbidden } from '../http/errors.ts';
import { isInternal } from './internal_users.ts';

export interface User {
  id: number;
  username: string;
  name: string;
  email: string;
  commit_email: string | null;
  has_proved_email: boolean;
  state: string;
  user_type: string;
  admin: boolean;
  external: boolean;
  /** Whether the primary email address must be confirmed before the user may do anything. */
  unconfirmed: boolean;
}

/** With `soft`, users can work for some days before they confirm their address. */
const grace_days = 3;

/** An SQL expression on rows of `users`: whether the user has confirmed the primary address, whatever the setting requires for signing in. */
export const isPrimaryProved = sql<boolean>`
  exists (select from emails where user_id = users.id and is_primary and emails.confirmed_at is not null)`;

/** The columns of `User`. */
export const userColumns = sql`
  users.id, users.username, users.name, users.email, users.commit_email, users.state, users.user_type, users.admin, users.external,
  ${isPrimaryProved} as has_proved_email,
  users.confirmed_at is null and case (select email_confirmation_setting from application_settings)
    when 'hard' then true when 'soft' then users.created_at < now() - make_interval(days => ${sql.lit(grace_days)}) else false
  end as unconfirmed`;

/**
 * Refuses users who are not active.
 * @throws ApiError 403 with the reason
 */
export function refuseInactive(user: Pick<User, 'state' | 'user_type' | 'unconfirmed'>, url: string): void {
  if (isInternal(user.user_type)) throw forbidden('This action cannot be performed by internal users');
  if (user.state === 'blocked_pending_approval')
    throw forbidden('Your account is pending approval from your administrator and hence blocked.');
  if (user.state === 'deactivated')
    throw forbidden(
      `Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account at ${url}`,
    );
  if (user.unconfirmed)
    throw forbidden(
      'Your primary email address is not confirmed. Please check your inbox for the confirmation instructions.',
    );
  if (user.state !== 'active') throw forbidden('Your account has been blocked.');
}

/**
 * The email address of a user's commits. A primary address that the user has not confirmed may belong to someone else, so the private one takes its place.
 * @param url the external address of the server, whose host appears in private commit addresses
 */
export function commitEmailOf(
  {
    id,
    username,
    email,
    commit_email,
    has_proved_email,
  }: Pick<User, 'id' | 'username' | 'email' | 'commit_email' | 'has_proved_email'>,
  url: string,
) {
  if (commit_email === '_private' || (commit_email === null && !has_proved_email))
    return `${id}-${username}@users.noreply.${new URL(url).hostname}`;
  return commit_email ?? email;
}

/** The parts of a caller that come from the credential; sudo keeps them. */
type CallerDetails = Pick<Caller, 'token' | 'sudo' | 'counted' | 'plan' | 'administrator'>;

/** Builds the caller from a user and a credential. */
export function callerFrom(
  user: User,
  { token, sudo, counted, plan, administrator }: CallerDetails,
  url: string,
): Caller {
  const { id, username, name, email, state, admin, external } = user;
  const person = { id, username, name, email, commit_email: commitEmailOf(user, url), state, admin, external };
  return { ...person, token, sudo, counted, plan, ...(administrator && { administrator }) };
}
