/** Complete changes of access tokens: each has a user of its own, who is a member of the project or group and goes with the token. */
import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/index.ts';
import { badRequest, type Caller, forbidden, type Services, sentenceOf } from '../../../http/index.ts';
import { issueToken, lifetimeNow, revokeToken, rotateToken } from '../../people/personal_access_tokens/index.ts';
import { createUser } from '../../people/users/index.ts';
import { scheduleRemoval } from '../../people/users/removal_index.ts';
import { addMembers, changeMember, refuseAbove } from '../members/index.ts';
import type { Granted, Resource } from './queries.ts';

export interface AccessTokenRequest {
  name: string;
  description?: string | null | undefined;
  scopes: readonly string[];
  /** `YYYY-MM-DD`; needed where the application settings say so. */
  expires_at?: string | undefined;
  access_level: number;
}

const refused = (reason: string) => badRequest(`400 Bad request - ${reason}`);
const placeOf = ({ kind, id }: Resource) => (kind === 'project' ? { project_id: id } : { group_id: id });
const actorIn = ({ access_level, permissions }: Resource, { id }: Caller) => ({ id, access_level, permissions });

/**
 * Adds a token.
 * @returns its id and its value, which is not kept
 * @throws ApiError 400 with the reason
 */
export async function createAccessToken(
  { db, url }: Pick<Services, 'db' | 'url'>,
  { caller, resource }: Granted,
  request: AccessTokenRequest,
) {
  const { access_level, ...token } = request;
  if (access_level > resource.access_level)
    throw refused("Access level of the token can't be greater the access level of the user who created the token");
  if (token.expires_at === undefined && (await lifetimeNow(db)).is_limited) throw refused("Expires at can't be blank");
  const username = `${resource.kind}_${resource.id}_bot_${randomBytes(16).toString('hex')}`;
  return db.transaction().execute(async (tx) => {
    const user_id = await createUser(tx, {
      username,
      name: token.name,
      email: `${username}@noreply.${new URL(url).hostname}`,
      confirmed: true,
      user_type: 'project_bot',
      created_by_id: caller.id,
      profile: { external: caller.external },
    });
    const made = await issueToken(tx, { ...token, user_id }, (reasons) => refused(sentenceOf(reasons)));
    const place = placeOf(resource);
    await tx
      .insertInto('access_token_bots')
      .values({ ...place, user_id })
      .execute();
    const actor = actorIn(resource, caller);
    const members = { user_ids: [user_id], access_level, expires_at: token.expires_at, existing: 'refuse' as const };
    await addMembers(tx, place, actor, members);
    return made;
  });
}

/**
 * Puts a new token in the place of one. Its user stays a member as long as the new token lives.
 * @param token as it was found
 * @throws ApiError 400 when it was revoked before or cannot live so long, 403 when its level is above that of who asks
 */
export async function rotateAccessToken(
  db: Database,
  { caller, resource }: Granted,
  token: { id: number; access_level: number | null },
  expires_at: string | undefined,
) {
  if (token.access_level !== null && token.access_level > resource.access_level) throw forbidden();
  return db.transaction().execute(async (tx) => {
    const made = await rotateToken(tx, token.id, expires_at);
    const actor = actorIn(resource, caller);
    if (token.access_level !== null)
      await changeMember(tx, placeOf(resource), actor, { ...made, access_level: token.access_level });
    return made;
  });
}

/**
 * Ends a token, and has its user removed.
 * @throws ApiError 400 when it was revoked before, 403 when its user has more in the project or group than who asks
 */
export async function revokeAccessToken(
  db: Database,
  { caller, resource }: Granted,
  token: { id: number; user_id: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await refuseAbove(tx, placeOf(resource), actorIn(resource, caller), token.user_id);
    await revokeToken(tx, token.id);
    await scheduleRemoval(tx, token.user_id, false);
  });
}
