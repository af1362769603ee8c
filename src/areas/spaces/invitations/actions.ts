/** Changes of invitations: the rows and the resulting messages, in one transaction. */
import { sql } from 'kysely';
import { type Changing, countsToday, isInternal, isOpenInvitation } from '../../../access/index.ts';
import { endReasonsOf, today } from '../../../cron/index.ts';
import { type Database, isAmong, ofAnyLength, stamped } from '../../../db/index.ts';
import { ApiError, checkUnmodified, forbidden, idIn, invalid, textOf } from '../../../http/index.ts';
import { emailRefusals, settingsOf } from '../../instance/application_settings/index.ts';
import { emailReasons } from '../../people/emails/index.ts';
import { addMembers } from '../members/actions.ts';
import { isDirect } from '../members/queries.ts';
import { noSeatsText, textsOf } from '../members/refusal_rules.ts';
import { checkRole, type Grant } from '../members/role_checks.ts';
import { type Actor, isAbove, type Source } from '../members/rules.ts';
import { hasSeatsFor } from '../members/seat_queries.ts';
import { asSubtree, type Granted } from '../members/source_access.ts';
import { remindOfInvitation, tellOfAccess, writeInvitation } from './mail_jobs.ts';
import { invitationFor, invitationsOf, type NamedUser, objectionTo, usersByAddress, usersNumbered } from './queries.ts';
import {
  botText,
  emailRefusalText,
  endOfAccess,
  levelRefusal,
  lockedText,
  maximumAtOnce,
  nextReminder,
  takenText,
  tooManyText,
  unknownText,
} from './rules.ts';

export interface Wanted extends Grant {
  emails: readonly string[];
  /** The ids as given. */
  user_ids: readonly string[];
  /** A moment, ISO 8601 in UTC. Memberships end on the first day that begins then or later. */
  expires_at: string | null;
}

/** Texts by address, as given, or by username. */
type Texts = [name: string, text: string][];

/** The people who were not invited or added, with the reasons. */
export interface Invited {
  refused: Texts;
  /** Users who need an approval. */
  queued: Texts;
}

/** Facts about the source that apply to all people of a request. */
interface InvitationTerms {
  /** Whether the plan has minimal access. */
  withMinimal: boolean;
  /** Whether an ancestor group locks memberships of the project. */
  locked: boolean;
}

interface Named {
  /** Users by ID, with the address or username that the request gave. */
  users: Map<number, NamedUser & { name: string }>;
  /** Addresses without a user, as first given. */
  strangers: string[];
  /**
   * IDs and names that match no user who can be invited: IDs that do not exist, and the usernames of accounts that
   * belong to no person.
   */
  unknown: string[];
}

async function named(tx: Database, { emails, user_ids }: Wanted): Promise<Named> {
  const known = await usersByAddress(tx, emails);
  const numbered = await usersNumbered(
    tx,
    user_ids.map((text) => idIn(text)!),
  );
  const [internal, people] = [numbered.filter(hasInternalType), numbered.filter((user) => !hasInternalType(user))];
  const users: Named['users'] = new Map(people.map((user) => [user.id, { ...user, name: user.username }]));
  for (const email of emails) {
    const user = known.get(email.toLowerCase());
    if (user && !users.has(user.id)) users.set(user.id, { ...user, name: email });
  }
  const strangers = new Map<string, string>();
  for (const email of emails)
    if (!known.has(email.toLowerCase()) && !strangers.has(email.toLowerCase()))
      strangers.set(email.toLowerCase(), email);
  const ids = new Set(numbered.map(({ id }) => id));
  return {
    users,
    strangers: [...strangers.values()],
    unknown: [...user_ids.filter((text) => !ids.has(idIn(text)!)), ...internal.map(({ username }) => username)],
  };
}

const hasInternalType = ({ user_type }: NamedUser) => isInternal(user_type);

/**
 * Invites people by their addresses. Users become members at once, and members get the new role. People who cannot be invited do not affect the others.
 * @param tx a transaction that has locked the source
 * @throws ApiError 403 for a role that the actor cannot give
 */
export async function invite(
  tx: Database,
  source: Source,
  actor: Actor,
  wanted: Wanted,
  { withMinimal, locked }: InvitationTerms,
): Promise<Invited> {
  const count = new Set([...wanted.emails.map((email) => email.toLowerCase()), ...wanted.user_ids]).size;
  const refusal =
    count > maximumAtOnce ? tooManyText : locked ? lockedText : grantRefusal(source, actor, wanted, withMinimal);
  const people = await named(tx, wanted);
  if (refusal !== undefined) return everyone(people, refusal);
  const roleRefusal = await checkRole(tx, source, actor, wanted).then(() => undefined, textOfRole);
  if (roleRefusal !== undefined) return everyone(people, roleRefusal);
  const newcomers = { user_ids: [...people.users.keys()], addresses: people.strangers.length };
  if (!(await hasSeatsFor(tx, newcomers, wanted))) return everyone(people, noSeatsText(actor));
  const added = await addUsers(tx, source, actor, wanted, people.users);
  const strangers = await inviteStrangers(tx, source, actor, wanted, people.strangers);
  return {
    ...added,
    refused: [...people.unknown.map((name): [string, string] => [name, unknownText]), ...added.refused, ...strangers],
  };
}

/** The text of a refused role, which applies to everyone that the request names. */
function textOfRole(error: unknown): string {
  if (error instanceof ApiError && error.status === 400) return textOf(error);
  throw error;
}

function grantRefusal(source: Source, actor: Actor, { access_level, expires_at }: Wanted, withMinimal: boolean) {
  const [past] = endReasonsOf(expires_at);
  return past === undefined ? levelRefusal(source, actor, access_level, withMinimal) : `Expires at ${past}`;
}

const everyone = ({ users, strangers, unknown }: Named, text: string): Invited => ({
  refused: [...[...users.values()].map(({ name }) => name), ...strangers, ...unknown].map((name) => [name, text]),
  queued: [],
});

async function addUsers(
  tx: Database,
  source: Source,
  actor: Actor,
  wanted: Wanted,
  users: Named['users'],
): Promise<Invited> {
  const bots = [...users.values()].filter(({ user_type }) => user_type === 'project_bot');
  const user_ids = [...users.keys()].filter((id) => users.get(id)!.user_type !== 'project_bot');
  const { access_level, member_role_id, expires_at } = wanted;
  const before = new Set(await membersAmong(tx, source, user_ids));
  const members = {
    user_ids,
    access_level,
    member_role_id,
    expires_at: endOfAccess(expires_at),
    existing: 'change' as const,
  };
  const refusals = await addMembers(tx, asSubtree(source), actor, members);
  const joined = user_ids.filter((id) => !before.has(id) && !refusals.has(id));
  await tellOfAccess.enqueueEach(tx, await membershipsOf(tx, source, joined));
  const byRequest = new Map([...users].map(([id, { name }]) => [id, name]));
  const byUsername = new Map([...users].map(([id, { username }]) => [id, username]));
  return {
    refused: [
      ...textsOf(refusals, byRequest, actor).refused,
      ...bots.map(({ name }): [string, string] => [name, botText]),
    ],
    queued: textsOf(refusals, byUsername, actor).queued,
  };
}

async function membersAmong(tx: Database, source: Source, user_ids: readonly number[]): Promise<number[]> {
  const rows = await tx
    .selectFrom('members')
    .select('user_id')
    .where(isDirect(source))
    .where(countsToday())
    .where(isAmong('user_id', user_ids, 'bigint[]'))
    .execute();
  return rows.map(({ user_id }) => user_id);
}

async function membershipsOf(
  tx: Database,
  source: Source,
  user_ids: readonly number[],
): Promise<{ member_id: number }[]> {
  return tx
    .selectFrom('members')
    .select('id as member_id')
    .where(isDirect(source))
    .where(isAmong('user_id', user_ids, 'bigint[]'))
    .execute();
}

/** @returns the reasons by address for addresses that could not be invited */
async function inviteStrangers(
  tx: Database,
  source: Source,
  actor: Actor,
  wanted: Wanted,
  emails: readonly string[],
): Promise<Texts> {
  if (emails.length === 0) return [];
  const rules = await emailRefusals(await settingsOf(tx), emails);
  const refused: Texts = [];
  const accepted = new Map<string, string>();
  for (const [index, email] of emails.entries()) {
    const rule = rules[index];
    if (emailReasons(email).length > 0) refused.push([email, 'Invite email is invalid']);
    else if (rule) refused.push([email, emailRefusalText(rule, source)]);
    else accepted.set(email.toLowerCase(), email);
  }
  const invited = await writeInvitations(tx, source, actor, wanted, [...accepted.keys()]);
  const taken = [...accepted]
    .filter(([address]) => !invited.has(address))
    .map(([, email]): [string, string] => [email, takenText]);
  return [...refused, ...taken];
}

/** @returns the addresses that had no pending invitation before */
async function writeInvitations(
  tx: Database,
  source: Source,
  actor: Actor,
  wanted: Wanted,
  addresses: readonly string[],
) {
  if (addresses.length === 0) return new Set<string>();
  const { access_level, member_role_id = null, expires_at } = wanted;
  await sql`
    delete from invitations where ${isDirect(source)} and invite_email = any(${ofAnyLength(addresses, 'citext[]')}) and not ${isOpenInvitation}`.execute(
    tx,
  );
  const remind_on = nextReminder({ created_at: new Date().toISOString(), expires_at }, 0, today());
  const grant = { ...asSubtree(source), access_level, member_role_id, expires_at, remind_on, created_by_id: actor.id };
  const rows = await tx
    .insertInto('invitations')
    .values(addresses.map((invite_email) => ({ ...grant, invite_email })))
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id as invitation_id', 'invite_email'])
    .execute();
  await writeInvitation.enqueueEach(
    tx,
    rows.map(({ invitation_id }) => ({ invitation_id })),
  );
  return new Set(rows.map(({ invite_email }) => invite_email));
}

/** Sends a pending invitation again. */
export const remindNow = (db: Database, invitation_id: number): Promise<void> =>
  remindOfInvitation.enqueue(db, { invitation_id });

export interface InvitationChange {
  access_level?: number | undefined;
  /** A custom role with the base level of the invitation; null removes it; if omitted, it stays unless the level changes. */
  member_role_id?: number | null | undefined;
  /** A moment, ISO 8601 in UTC; null: no end. */
  expires_at?: string | null | undefined;
}

/**
 * Updates an invitation.
 * @param tx a transaction that has locked the source
 * @throws ApiError 404; 403 for more than the actor has, before or after; 400 for a level or role that is not available there
 */
export async function changeInvitation(
  tx: Database,
  source: Source,
  actor: Actor,
  email: string,
  { access_level, member_role_id, expires_at, withMinimal }: InvitationChange & { withMinimal: boolean },
): Promise<void> {
  const invitation = await invitationFor(tx, source, email);
  const level = access_level ?? invitation.access_level;
  if (isAbove(actor, source.kind, invitation) || level > actor.access_level) throw forbidden();
  if (levelRefusal(source, actor, level, withMinimal)) throw invalid({ access_level: ['is not included in the list'] });
  await checkRole(tx, source, actor, { access_level: level, member_role_id });
  const ends = expires_at === undefined ? invitation.expires_at : expires_at;
  const givesMore =
    level > invitation.access_level || (member_role_id ?? invitation.member_role_id) !== invitation.member_role_id;
  const hasEnded = (await objectionTo(tx, invitation)) !== undefined;
  const remind_on = nextReminder(
    { created_at: invitation.created_at, expires_at: ends },
    invitation.reminders,
    today(),
  );
  await tx
    .updateTable('invitations')
    .set(
      stamped({
        access_level: level,
        expires_at: ends,
        remind_on,
        ...(member_role_id === undefined && level === invitation.access_level
          ? {}
          : { member_role_id: member_role_id ?? null }),
        // Giving more makes the actor the inviter. An administrator, whose invitations need no approval, is not responsible for what others give.
        ...(givesMore || hasEnded ? { created_by_id: actor.id } : {}),
      }),
    )
    .where('id', '=', invitation.id)
    .execute();
}

/**
 * Revokes an invitation. Its link no longer works.
 * @param change makes the change as the caller
 * @throws ApiError 404; 403 for more than the actor has; 412 when it changed after `unmodified_since`; 409 when it was answered at the same time
 */
export async function removeInvitation(
  db: Database,
  source: Source,
  change: Changing<Granted>['change'],
  { email, unmodified_since }: { email: string; unmodified_since: Date | undefined },
): Promise<void> {
  const { id } = await invitationFor(db, source, email);
  await change(async (tx, { actor }) => {
    // Read again under the lock, which every response and every change takes.
    const invitation = await invitationsOf(tx, source).where('invitations.id', '=', id).executeTakeFirst();
    if (!invitation) throw answered();
    if (isAbove(actor, source.kind, invitation)) throw forbidden();
    checkUnmodified(invitation.updated_at, unmodified_since);
    const removed = await tx.deleteFrom('invitations').where('id', '=', id).returning('id').executeTakeFirst();
    if (!removed) throw answered();
  });
}

const answered = () => new ApiError(409, { message: '409 Conflict' });
