/** Mail about email addresses, and deleting expired claims. */
import { sql } from 'kysely';
import { recipientFor } from '../../../access/index.ts';
import { Id } from '../../../http/index.ts';
import { type JobCall, job, queueOf } from '../../../jobs/index.ts';
import { mailRetries, type Paragraph } from '../../../mail/index.ts';
import { endExpiredClaims } from './claim_actions.ts';
import { confirmation_days, linkPurpose, newEmailPage, primaryEmailPage } from './rules.ts';

/** The job that accepts the invitations to a confirmed address. The area of invitations runs it. */
export const acceptInvitationsTo = queueOf('accept_invitations', { input: { email_id: Id }, retries: 5 });

/** The facts about the user in a message. */
interface Account {
  name: string;
  username: string;
}

interface Claim extends Account {
  email: string;
  seed: string;
  sent_at: string;
  is_primary: boolean;
}

const accountFacts = ({ name, username }: Account, url: string) =>
  [
    ['Account', `${name} (@${username})`],
    ['Server', url],
  ] as const;

/** Sends a confirmation link. Opening it proves access to the address. */
async function sendLink({ mailer, secrets, url }: JobCall<unknown>, id: string, claim: Claim): Promise<void> {
  const { name, email, seed, sent_at, is_primary } = claim;
  const page = is_primary ? primaryEmailPage : newEmailPage;
  await mailer.send({
    to: { name, address: email },
    id: `${id}-${Date.parse(sent_at)}`,
    subject: 'Confirm your email address',
    paragraphs: [
      'Please confirm that this is your email address.',
      { facts: [['Address', email], ...accountFacts(claim, url)] },
      {
        link: 'Confirm the email address',
        url: `${url}${page}?confirmation_token=${secrets.linkToken(linkPurpose, seed)}`,
      },
      `The link expires after ${confirmation_days} days. If you did not request this, ignore this message: the address is not used unless it is confirmed.`,
    ],
  });
}

export const confirmEmail = job('confirm_email', {
  input: { email_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const { email_id } = call.input;
    const claim = await call.db
      .selectFrom('emails')
      .innerJoin('users', 'users.id', 'emails.user_id')
      .select(['emails.email', 'emails.seed', 'emails.is_primary', 'emails.confirmation_sent_at as sent_at'])
      .select(['users.name', 'users.username'])
      .where('emails.id', '=', email_id)
      .where((q) => q.or([q('emails.confirmed_at', 'is', null), q('emails.refused_at', 'is not', null)]))
      .executeTakeFirst();
    if (claim) await sendLink(call, `email-${email_id}-confirmation`, claim);
  },
});

export const confirmNewPrimary = job('confirm_new_primary_email', {
  input: { user_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const { user_id } = call.input;
    const claim = await call.db
      .selectFrom('users')
      .select(['unconfirmed_email as email', 'unconfirmed_email_seed as seed', 'unconfirmed_email_sent_at as sent_at'])
      .select([sql<true>`true`.as('is_primary'), 'name', 'username'])
      .where('id', '=', user_id)
      .where('unconfirmed_email', 'is not', null)
      .$narrowType<{ email: string; seed: string; sent_at: string }>()
      .executeTakeFirst();
    if (claim) await sendLink(call, `user-${user_id}-confirmation`, claim);
  },
});

interface Notice {
  /** The unique ID of the message. */
  id: string;
  user_id: number;
  /** The preferred address; if omitted, the primary one. */
  to?: string;
  subject: string;
  text: string;
  facts: [name: string, value: string][];
}

/** Sends a notice to a confirmed address of the user, so that their addresses do not change without their knowledge. */
async function sendNotice({ db, mailer, url }: JobCall<unknown>, notice: Notice & Account): Promise<void> {
  const { id, user_id, subject, text, facts } = notice;
  const to = await recipientFor(db, user_id, notice.to);
  if (!to) return;
  const paragraphs: Paragraph[] = [
    text,
    { facts: [...facts, ...accountFacts(notice, url)] },
    'If you did not request this, contact an administrator of the server.',
  ];
  await mailer.send({ to, id, subject, paragraphs });
}

export const tellOfNewEmail = job('tell_of_new_email', {
  input: { email_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const { email_id } = call.input;
    const added = await call.db
      .selectFrom('emails')
      .innerJoin('users', 'users.id', 'emails.user_id')
      .select(['emails.email', 'users.id', 'users.name', 'users.username'])
      .where('emails.id', '=', email_id)
      .executeTakeFirst();
    if (!added) return;
    const { id: user_id, name, username, email } = added;
    await sendNotice(call, {
      user_id,
      name,
      username,
      id: `email-${email_id}-added`,
      subject: 'An email address was added to your account',
      text: 'A new email address was added to your account.',
      facts: [['New address', email]],
    });
  },
});

export const tellOfPrimaryRequest = job('tell_of_primary_email_request', {
  input: { user_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const { user_id } = call.input;
    const waiting = await call.db
      .selectFrom('users')
      .select(['name', 'username', 'unconfirmed_email', 'unconfirmed_email_sent_at'])
      .where('id', '=', user_id)
      .where('unconfirmed_email', 'is not', null)
      .$narrowType<{ unconfirmed_email: string; unconfirmed_email_sent_at: string }>()
      .executeTakeFirst();
    if (!waiting) return;
    const { name, username, unconfirmed_email, unconfirmed_email_sent_at } = waiting;
    await sendNotice(call, {
      user_id,
      name,
      username,
      id: `user-${user_id}-primary-requested-${Date.parse(unconfirmed_email_sent_at)}`,
      subject: 'A change of your primary email address was requested',
      text: 'The new address becomes the primary email address of your account as soon as it is confirmed.',
      facts: [['New address', unconfirmed_email]],
    });
  },
});

export const tellOfPrimaryChange = job('tell_of_primary_email_change', {
  /** ID of the old primary address. */
  input: { email_id: Id },
  retries: mailRetries,
  run: async (call) => {
    const { email_id } = call.input;
    const changed = await call.db
      .selectFrom('emails')
      .innerJoin('users', 'users.id', 'emails.user_id')
      .select(['emails.email as old', 'emails.updated_at', 'users.id', 'users.name', 'users.username', 'users.email'])
      .where('emails.id', '=', email_id)
      .where('emails.is_primary', '=', false)
      .executeTakeFirst();
    if (!changed) return;
    const { id: user_id, name, username, old, email, updated_at } = changed;
    await sendNotice(call, {
      user_id,
      name,
      username,
      to: old,
      id: `email-${email_id}-replaced-${Date.parse(updated_at)}`,
      subject: 'Your primary email address has changed',
      text: 'The primary email address of your account was changed.',
      facts: [
        ['Old address', old],
        ['New address', email],
      ],
    });
  },
});

/** Deletes claims whose links have expired. */
export const removeUnconfirmedEmails = job('remove_unconfirmed_emails', {
  input: {},
  retries: 3,
  schedule: '50 2 * * *',
  run: ({ db }) => db.transaction().execute(endExpiredClaims),
});
