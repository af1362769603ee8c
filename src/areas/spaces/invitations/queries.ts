/** Queries for invitations, and for the users with given addresses. */
import { sql } from 'kysely';
import { isOpenInvitation, isUsableAccount, type Permission, rolesCount } from '../../../access/index.ts';
import { dayFrom } from '../../../cron/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import { actorNow, isDirect } from '../members/queries.ts';
import { type Actor, isAbove, mayManage, roleName, type Source } from '../members/rules.ts';

/** Pending invitations of a group or project, with the names of the inviters and the permissions of custom roles; below Ultimate there are none. */
export const invitationsOf = (db: Database, source: Source) =>
  db
    .selectFrom('invitations')
    .leftJoin('users as inviters', 'inviters.id', 'invitations.created_by_id')
    .leftJoin('member_roles', (join) => join.onRef('member_roles.id', '=', 'invitations.member_role_id').on(rolesCount))
    .select(['invitations.id', 'invitations.invite_email', 'invitations.created_at', 'invitations.access_level'])
    .select([
      'invitations.expires_at',
      'invitations.updated_at',
      'member_roles.id as member_role_id',
      'invitations.reminders',
    ])
    .select(['invitations.group_id', 'invitations.project_id', 'invitations.created_by_id'])
    .select(sql<readonly Permission[]>`coalesce(member_roles.permissions, '{}')`.as('permissions'))
    .select('inviters.name as created_by_name')
    .where(isDirect(source, 'invitations'))
    .where(isOpenInvitation);

/**
 * One pending invitation of a group or project.
 * @throws ApiError 404
 */
export async function invitationFor(db: Database, source: Source, email: string) {
  const row = await invitationsOf(db, source).where('invitations.invite_email', '=', email).executeTakeFirst();
  if (!row) throw new ApiError(404, { message: '404 Not Found' });
  return row;
}

/** Pending invitations in the columns that pages and mail need. */
const opened = (db: Database) =>
  db
    .selectFrom('invitations')
    .leftJoin('namespaces as groups', 'groups.id', 'invitations.group_id')
    .leftJoin('projects', 'projects.id', 'invitations.project_id')
    .leftJoin('users as inviters', 'inviters.id', 'invitations.created_by_id')
    .leftJoin('member_roles', 'member_roles.id', 'invitations.member_role_id')
    .select([
      'invitations.id',
      'invitations.group_id',
      'invitations.project_id',
      'invitations.invite_email',
      'invitations.seed',
    ])
    .select([
      'invitations.access_level',
      'invitations.member_role_id',
      'invitations.expires_at',
      'invitations.created_by_id',
    ])
    .select(['inviters.name as inviter', 'member_roles.name as role', 'invitations.reminders'])
    .select(sql<readonly Permission[]>`coalesce(member_roles.permissions, '{}')`.as('permissions'))
    .select(sql<string>`coalesce(groups.name, projects.name)`.as('place'))
    .select(sql<string>`coalesce(groups.full_path, projects.full_path)`.as('full_path'))
    .select(sql<string | null>`coalesce(groups.description, projects.description)`.as('about'))
    .where(isOpenInvitation);
export type OpenInvitation = Awaited<ReturnType<ReturnType<typeof opened>['executeTakeFirstOrThrow']>>;

/** The pending invitation with an ID; undefined without one, for instance after it was accepted. */
export const invitationNumbered = (db: Database, id: number): Promise<OpenInvitation | undefined> =>
  opened(db).where('invitations.id', '=', id).executeTakeFirst();

/** The pending invitation of a link. */
export const invitationOfSeed = (db: Database, seed: string): Promise<OpenInvitation | undefined> =>
  opened(db).where('invitations.seed', '=', seed).executeTakeFirst();

/** The pending invitations to an address, oldest first. */
export const invitationsFor = (db: Database, email: string): Promise<OpenInvitation[]> =>
  opened(db).where('invitations.invite_email', '=', email).orderBy('invitations.id').execute();

/** Why an invitation is no longer valid: its inviter is no longer active, or could no longer send it. */
export type Objection = 'inviter gone' | 'inviter demoted';

type Sent = Pick<OpenInvitation, 'group_id' | 'project_id' | 'access_level' | 'permissions' | 'created_by_id'>;

/** The inviter with their current rights, or why the invitation is no longer valid. */
export async function inviterOf(db: Database, invitation: Sent): Promise<Actor | Objection> {
  const { group_id, project_id, created_by_id } = invitation;
  const source =
    group_id === null ? { kind: 'project' as const, id: project_id! } : { kind: 'group' as const, id: group_id };
  const inviter = created_by_id === null ? undefined : await actorNow(db, source, created_by_id);
  if (inviter === undefined) return 'inviter gone';
  return mayManage(source.kind, inviter) && !isAbove(inviter, source.kind, invitation) ? inviter : 'inviter demoted';
}

/** Why an invitation is no longer valid; undefined if it is. */
export async function objectionTo(db: Database, invitation: Sent): Promise<Objection | undefined> {
  const inviter = await inviterOf(db, invitation);
  return typeof inviter === 'string' ? inviter : undefined;
}

/** The name of a member's role. */
export const roleOf = ({ role, access_level }: { role: string | null; access_level: number }) =>
  role ?? roleName(access_level);

/** The facts about an invitation, for a message or a page. */
export const factsOf = (invitation: OpenInvitation): { facts: [name: string, value: string][] } => ({
  facts: [
    [invitation.group_id === null ? 'Project' : 'Group', `${invitation.place} (${invitation.full_path})`],
    ['Role', roleOf(invitation)],
    ...(invitation.expires_at === null
      ? []
      : [['Access expires', dayFrom(invitation.expires_at)] satisfies [string, string]]),
  ],
});

/** A user named in a request. */
export interface NamedUser {
  id: number;
  username: string;
  user_type: string;
}

/** The users with these IDs. */
export const usersNumbered = (db: Database, ids: readonly number[]): Promise<NamedUser[]> =>
  db
    .selectFrom('users')
    .select(['id', 'username', 'user_type'])
    .where(isAmong('id', ids, 'bigint[]'))
    .orderBy('id')
    .execute();

/**
 * The users who have confirmed the addresses. Anyone can claim an address, so unconfirmed ones do not identify a user, not even primary ones.
 * @returns users by address in lower case
 */
export async function usersByAddress(db: Database, addresses: readonly string[]): Promise<Map<string, NamedUser>> {
  const rows = await db
    .selectFrom('emails')
    .innerJoin('users', 'users.id', 'emails.user_id')
    .select(['emails.email', 'users.id', 'users.username', 'users.user_type'])
    .where(isAmong('emails.email', addresses, 'citext[]'))
    .where('emails.confirmed_at', 'is not', null)
    .where(isUsableAccount)
    .execute();
  return new Map(rows.map(({ email, ...user }) => [email.toLowerCase(), user]));
}
