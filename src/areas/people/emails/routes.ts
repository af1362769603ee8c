/** Email addresses of users (docs/reference/emails.md). */
import { Type } from 'typebox';
import { admin, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checked, del, found, get, Id, nothing, one, pageOf, post } from '../../../http/index.ts';
import { type Paging, paginate, paging } from '../../../lists/index.ts';
import { addEmail, removeEmail } from './actions.ts';
import { Email, emailColumns } from './present.ts';
import { emailReasons, storedEmail } from './rules.ts';

const emailsOf = (db: Database, user_id: number) =>
  db.selectFrom('emails').select(emailColumns).where('user_id', '=', user_id);

const listEmails = (db: Database, user_id: number, input: Paging) =>
  paginate(db, emailsOf(db, user_id).orderBy('id'), input);

/** @throws ApiError 404 */
async function checkUser(db: Database, user_id: number): Promise<void> {
  found('User', await db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst());
}

/** API v4 reports both reasons for a blank address. */
const newEmailReasons = (text: string) =>
  text.trim() === '' ? ["can't be blank", 'is invalid'] : emailReasons(text.trim());

const NewEmail = checked(
  Type.String({ description: 'Stored in lower case, without surrounding spaces' }),
  newEmailReasons,
);

const own = { access: signedIn, scopes: ['read_user'] };

export const emailRoutes = [
  get('/user/emails', {
    operation: 'listOwnEmails',
    summary: "List the current user's email addresses, including the primary one",
    ...own,
    input: paging,
    returns: pageOf(Email),
    handle: ({ db, caller, input }) => listEmails(db, caller.id, input),
  }),
  get('/user/emails/:email_id', {
    operation: 'getOwnEmail',
    summary: "Show one of the current user's email addresses",
    ...own,
    input: { email_id: Id },
    returns: one(Email),
    refusals: { 404: '404 Email Not Found' },
    handle: async ({ db, caller, input }) =>
      found('Email', await emailsOf(db, caller.id).where('id', '=', input.email_id).executeTakeFirst()),
  }),
  post('/user/emails', {
    operation: 'createOwnEmail',
    summary: 'Add an email address for the current user and send a confirmation link to it',
    description: 'The address is confirmed by opening the link in the message, within 3 days.',
    access: signedIn,
    input: { email: NewEmail },
    returns: one(Email),
    refusals: { 400: 'email: <reason>' },
    handle: ({ db, caller, input }) => addEmail(db, caller.id, storedEmail(input.email), false),
  }),
  del('/user/emails/:email_id', {
    operation: 'deleteOwnEmail',
    summary: "Delete one of the current user's email addresses, except the primary one",
    access: signedIn,
    input: { email_id: Id },
    conditional: true,
    returns: nothing,
    refusals: { 400: 'Cannot delete primary email', 404: '404 Email Not Found' },
    handle: ({ db, caller, input, unmodified_since }) => removeEmail(db, caller.id, input.email_id, unmodified_since),
  }),
  get('/users/:id/emails', {
    operation: 'listUserEmails',
    summary: "List a user's email addresses, including the primary one",
    access: admin,
    scopes: ['read_user'],
    input: { id: Id, ...paging },
    returns: pageOf(Email),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => {
      await checkUser(db, input.id);
      return listEmails(db, input.id, input);
    },
  }),
  post('/users/:id/emails', {
    operation: 'createUserEmail',
    summary: 'Add an email address for a user',
    access: admin,
    input: {
      id: Id,
      email: NewEmail,
      skip_confirmation: Type.Boolean({
        default: false,
        description: 'Whether the address is confirmed at once, without a confirmation link',
      }),
    },
    returns: one(Email),
    refusals: { 400: 'email: <reason>', 404: '404 User Not Found' },
    handle: ({ db, input }) => addEmail(db, input.id, storedEmail(input.email), input.skip_confirmation),
  }),
  del('/users/:id/emails/:email_id', {
    operation: 'deleteUserEmail',
    summary: "Delete one of a user's email addresses, except the primary one",
    access: admin,
    input: { id: Id, email_id: Id },
    conditional: true,
    returns: nothing,
    refusals: { 400: 'Cannot delete primary email', 404: ['404 User Not Found', '404 Email Not Found'] },
    handle: ({ db, input, unmodified_since }) => removeEmail(db, input.id, input.email_id, unmodified_since),
  }),
];
