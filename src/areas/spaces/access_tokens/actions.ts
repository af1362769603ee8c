/** Changes of access tokens. Each has a bot user, which is a member of the project or group and is deleted with the token. */
import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/index.ts';
import { badRequest, type Caller, forbidden, sentenceOf } from '../../../http/index.ts';
import { issueToken, lifetimeNow, revokeToken, rotateToken } from '../../people/personal_access_tokens/index.ts';
import { createUser, scheduleRemoval } from '../../people/users/index.ts';
import { addMembers, changeMember, refuseAbove } from '../members/actions.ts';
import { asSubtree, type Granted, type Resource } from './queries.ts';

export interface AccessTokenRequest {
  name: string;
  description?: string | null | undefined;
  scopes: readonly string[];
  /** `YYYY-MM-DD`; required when the application settings limit lifetimes. */
  expires_at?: string | undefined;
  access_level: number;
}

const refused = (reason: string) => badRequest(`400 Bad request - ${reason}`);
const actorIn = ({ access_level, permissions }: Resource, { id }: Caller) => ({ id, access_level, permissions });

/**
 * Creates a token.
 * @param tx a transaction that has locked the project or group
 * @returns its ID and its value, which is not stored
 * @throws ApiError 400 with the reason
 */
export async function createAccessToken(
  tx: Database,
  url: string,
  { caller, resource }: Granted,
  request: AccessTokenRequest,
) {
  const { access_level, ...token } = request;
  if (access_level > resource.access_level)
    throw refused("Access level of the token can't be greater the access level of the user who created the token");
  if (token.expires_at === undefined && (await lifetimeNow(tx)).is_limited) throw refused("Expires at can't be blank");
  const username = `${resource.kind}_${resource.id}_bot_${randomBytes(16).toString('hex')}`;
  const user_id = await createUser(tx, {
    username,
    name: token.name,
    email: `${username}@noreply.${new URL(url).hostname}`,
    confirmed: true,
    user_type: 'project_bot',
    created_by_id: caller.id,
    profile: { external: caller.external },
  });
  const place = asSubtree(resource);
  // Before the token, which is then one of the project or group.
  await tx
    .insertInto('access_token_bots')
    .values({ ...place, user_id })
    .execute();
  const made = await issueToken(tx, { ...token, user_id }, (reasons) => refused(sentenceOf(reasons)));
  const actor = actorIn(resource, caller);
  const members = { user_ids: [user_id], access_level, expires_at: token.expires_at, existing: 'refuse' as const };
  await addMembers(tx, place, actor, members);
  return made;
}

/**
 * Rotates a token. The bot user's membership ends with the new token.
 * @param tx a transaction that has locked the project or group
 * @param token a row of `tokensOf`
 * @throws ApiError 400 when it is already revoked, and for an `expires_at` that is past or too late; 403 when its level is above the caller's
 */
export async function rotateAccessToken(
  tx: Database,
  { caller, resource }: Granted,
  token: { id: number; access_level: number | null },
  expires_at: string | undefined,
) {
  if (token.access_level !== null && token.access_level > resource.access_level) throw forbidden();
  const made = await rotateToken(tx, token.id, expires_at);
  const actor = actorIn(resource, caller);
  if (token.access_level !== null)
    await changeMember(tx, asSubtree(resource), actor, { ...made, access_level: token.access_level });
  return made;
}

/**
 * Revokes a token and schedules the deletion of its bot user.
 * @param tx a transaction that has locked the project or group
 * @throws ApiError 400 when it is already revoked, 403 when its bot user has more in the project or group than the caller
 */
export async function revokeAccessToken(
  tx: Database,
  { caller, resource }: Granted,
  token: { id: number; user_id: number },
): Promise<void> {
  await refuseAbove(tx, asSubtree(resource), actorIn(resource, caller), token.user_id);
  await revokeToken(tx, token.id);
  await scheduleRemoval(tx, token.user_id, false);
}
