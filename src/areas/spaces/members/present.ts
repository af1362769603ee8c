/** How members appear in responses. */
import { type Static, Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { DateOnly, found, nullable, optional, resource, type Services, since, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { MemberRole, memberRolesById } from '../member_roles/queries.ts';
import { type MemberRow, membersOf, usersById } from './queries.ts';
import { queuedText } from './refusal_rules.ts';
import type { Source } from './rules.ts';

export const Member = resource('Member', {
  ...UserBasic.properties,
  created_at: Timestamp,
  created_by: optional(UserBasic),
  expires_at: nullable(DateOnly),
  access_level: Type.Integer(),
  membership_state: Type.Enum(['active']),
  membership_source: optional(
    Type.Enum(['ldap', 'saml'], { description: 'The kind of links that give the membership; left out for others' }),
  ),
  // Clients take the presence of this field as a role that they may read.
  member_role: optional(since('ultimate', MemberRole)),
});

/**
 * Presents rows of `membersOf`, with their creators and custom roles.
 * @param url the external address of the server
 */
export async function presentMembers(
  db: Database,
  url: string,
  rows: readonly MemberRow[],
): Promise<Static<typeof Member>[]> {
  const creators = await usersById(
    db,
    rows.map((row) => row.created_by_id).filter((id) => id !== null),
  );
  const roles = await memberRolesById(
    db,
    rows.map((row) => row.member_role_id).filter((id) => id !== null),
  );
  return rows.map((row) => {
    const creator = row.created_by_id === null ? undefined : creators.get(row.created_by_id);
    const member_role = row.member_role_id === null ? undefined : roles.get(row.member_role_id);
    return {
      ...presentUserBasic(url, row),
      created_at: row.membership_created_at,
      ...(creator ? { created_by: presentUserBasic(url, creator) } : {}),
      expires_at: row.expires_at,
      access_level: row.access_level,
      membership_state: 'active' as const,
      ...(row.source === null ? {} : { membership_source: row.source as 'ldap' | 'saml' }),
      ...(member_role ? { member_role } : {}),
    };
  });
}

/**
 * Presents one member of a source.
 * @param reach `direct` for direct members, `all` also for inherited and invited ones
 * @throws ApiError 404
 */
export async function memberReply(
  { db, url }: Pick<Services, 'db' | 'url'>,
  source: Source,
  user_id: number,
  reach: 'direct' | 'all',
) {
  const row = found(undefined, await membersOf(db, source, reach).where('users.id', '=', user_id).executeTakeFirst());
  const [member] = await presentMembers(db, url, [row]);
  return member!;
}

/** The response in place of a member who needs an approval. */
export const MemberQueued = resource('MemberQueued', { message: Type.Record(Type.String(), Type.String()) });

/** Presents a user who needs an approval. */
export async function queuedReply(db: Database, user_id: number): Promise<Static<typeof MemberQueued>> {
  const users = await usersById(db, [user_id]);
  return { message: { [users.get(user_id)!.username]: queuedText } };
}
