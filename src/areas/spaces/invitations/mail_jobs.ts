/** Mail about invitations. A message is composed when it is sent, and not sent when its subject no longer exists. */
import { sql } from 'kysely';
import { groupPage, projectPage, recipientFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { type JobCall, job } from '../../../jobs/index.ts';
import { mailRetries, type Paragraph } from '../../../mail/index.ts';
import { isExperimentOn } from '../../instance/experiments/index.ts';
import { linkOf } from './link_rules.ts';
import { factsOf, invitationNumbered, type OpenInvitation, objectionTo, roleOf } from './queries.ts';

const answers = ({ url, secrets }: JobCall<object>, { seed }: OpenInvitation, query = ''): Paragraph[] => {
  const link = linkOf(url, secrets, seed);
  return [
    { link: 'Accept the invitation', url: `${link}${query}` },
    { link: 'Decline', url: `${link}/decline` },
  ];
};

/** The description of the group or project, when the experiment is enabled for the inviter. */
async function aboutPlace(db: Database, { created_by_id, about }: OpenInvitation): Promise<string | undefined> {
  if (created_by_id === null || !about) return undefined;
  return (await isExperimentOn(db, 'invitation_mail_preview', `User:${created_by_id}`)) ? about : undefined;
}

/** Sends an invitation. */
export const writeInvitation = job('write_invitation', {
  input: { invitation_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const invitation = await invitationNumbered(call.db, call.input.invitation_id);
    if (!invitation || (await objectionTo(call.db, invitation))) return;
    const { place, inviter } = invitation;
    const about = await aboutPlace(call.db, invitation);
    await call.mailer.send({
      to: { address: invitation.invite_email },
      id: `invitation-${invitation.id}`,
      subject: `${inviter} invited you to join ${place}`,
      paragraphs: [
        `${inviter} has invited you to join ${place}.`,
        ...(about ? [about] : []),
        factsOf(invitation),
        ...answers(call, invitation, '?invite_type=initial_email'),
      ],
    });
  },
});

/** Sends a reminder of an invitation. */
export const remindOfInvitation = job('remind_of_invitation', {
  input: { invitation_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const invitation = await invitationNumbered(call.db, call.input.invitation_id);
    if (!invitation || (await objectionTo(call.db, invitation))) return;
    const { id, place, inviter, reminders } = invitation;
    await call.mailer.send({
      to: { address: invitation.invite_email },
      id: `invitation-${id}-reminder-${reminders}`,
      subject: `Reminder: you are invited to join ${place}`,
      paragraphs: [
        `${inviter} has invited you to join ${place}. You have not responded yet.`,
        factsOf(invitation),
        ...answers(call, invitation),
      ],
    });
  },
});

/** Notifies a user who was added as a member. */
export const tellOfAccess = job('tell_of_access', {
  input: { member_id: Id },
  retries: mailRetries,
  run: async ({ db, url, mailer, input }) => {
    const member = await membership(db, input.member_id);
    const to = member && (await recipientFor(db, member.user_id));
    if (!to) return;
    const { place, full_path, is_of_group, role, access_level } = member;
    await mailer.send({
      to,
      id: `access-${input.member_id}`,
      subject: `You now have access to ${place}`,
      paragraphs: [
        `You have been granted access to ${place} with the role ${roleOf({ role, access_level })}.`,
        { link: full_path, url: url + (is_of_group ? groupPage : projectPage)(full_path) },
      ],
    });
  },
});

/** Notifies the inviter of an accepted invitation. */
export const tellOfAcceptance = job('tell_of_acceptance', {
  input: { member_id: Id },
  retries: mailRetries,
  run: async ({ db, mailer, input }) => {
    const member = await membership(db, input.member_id);
    const to = member?.created_by_id ? await recipientFor(db, member.created_by_id) : undefined;
    if (!member || !to) return;
    const { name, username, place } = member;
    await mailer.send({
      to,
      id: `invitation-accepted-${input.member_id}`,
      subject: `${name} accepted the invitation to ${place}`,
      paragraphs: [`${name} (@${username}) has accepted your invitation to join ${place}.`],
    });
  },
});

function membership(db: Database, id: number) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .leftJoin('namespaces as groups', 'groups.id', 'members.group_id')
    .leftJoin('projects', 'projects.id', 'members.project_id')
    .leftJoin('member_roles', 'member_roles.id', 'members.member_role_id')
    .select(['members.user_id', 'members.created_by_id', 'members.access_level', 'users.name', 'users.username'])
    .select(['member_roles.name as role'])
    .select(sql<string>`coalesce(groups.name, projects.name)`.as('place'))
    .select(sql<string>`coalesce(groups.full_path, projects.full_path)`.as('full_path'))
    .select(sql<boolean>`members.group_id is not null`.as('is_of_group'))
    .where('members.id', '=', id)
    .executeTakeFirst();
}

/** Notifies the inviter of a declined invitation, and then deletes the record of it. */
export const tellOfRefusal = job('tell_of_refusal', {
  input: { declined_id: Id },
  retries: mailRetries,
  run: async ({ db, mailer, input }) => {
    const declined = await db
      .selectFrom('declined_invitations as declined')
      .leftJoin('namespaces as groups', 'groups.id', 'declined.group_id')
      .leftJoin('projects', 'projects.id', 'declined.project_id')
      .select(['declined.id', 'declined.invite_email', 'declined.inviter_id'])
      .select(sql<string>`coalesce(groups.name, projects.name)`.as('place'))
      .where('declined.id', '=', input.declined_id)
      .executeTakeFirst();
    if (!declined) return;
    const { id, invite_email, place } = declined;
    const to = await recipientFor(db, declined.inviter_id);
    if (to)
      await mailer.send({
        to,
        id: `invitation-declined-${id}`,
        subject: `${invite_email} declined the invitation to ${place}`,
        paragraphs: [`${invite_email} has declined your invitation to join ${place}.`],
      });
    await db.deleteFrom('declined_invitations').where('id', '=', id).execute();
  },
});
