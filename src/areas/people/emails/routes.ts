/** Email addresses of users: whoever calls sees and changes his own, administrators everybody's. The primary address is one of the list. */
import { Type } from 'typebox';
import { admin, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checked, del, found, get, Id, nothing, one, type Paging, pageOf, paginate, paging, post } from '../../../http/index.ts';
import { addEmail, removeEmail } from './actions.ts';
import { Email, emailColumns } from './present.ts';
import { emailReasons } from './rules.ts';

const emailsOf = (db: Database, user_id: number) => db.selectFrom('emails').select(emailColumns).where('user_id', '=', user_id);

const listEmails = (db: Database, user_id: number, input: Paging) => paginate(db, emailsOf(db, user_id).orderBy('id'), input);

/** @throws ApiError 404 */
async function checkUser(db: Database, user_id: number): Promise<void> {
  found('User', await db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst());
}

/** What is blank is no address either, and the reference says both. */
const newEmailReasons = (text: string) => (text.trim() === '' ? ["can't be blank", 'is invalid'] : emailReasons(text.trim()));

const NewEmail = checked(Type.String({ description: 'Kept without blanks around it, in lower case' }), newEmailReasons);
const asKept = (email: string) => email.trim().toLowerCase();

const own = { access: signedIn, scopes: ['read_user'] };

export const emailRoutes = [
  get('/user/emails', {
    ...own,
    summary: 'List the email addresses of who calls, the primary one among them',
    input: paging,
    returns: pageOf(Email),
    handle: ({ db, caller, input }) => listEmails(db, caller.id, input),
  }),
  get('/user/emails/:email_id', {
    ...own,
    summary: 'Show one email address of who calls',
    input: { email_id: Id },
    returns: one(Email),
    handle: async ({ db, caller, input }) =>
      found('Email', await emailsOf(db, caller.id).where('id', '=', input.email_id).executeTakeFirst()),
  }),
  post('/user/emails', {
    summary: 'Add an email address, which has to be confirmed by the link in a mail to it',
    access: signedIn,
    input: { email: NewEmail },
    returns: one(Email),
    handle: ({ db, caller, input }) => addEmail(db, caller.id, asKept(input.email), false),
  }),
  del('/user/emails/:email_id', {
    summary: 'Remove an email address other than the primary one',
    access: signedIn,
    input: { email_id: Id },
    returns: nothing,
    handle: ({ db, caller, input, unmodified_since }) => removeEmail(db, caller.id, input.email_id, unmodified_since),
  }),
  get('/users/:id/emails', {
    summary: 'List the email addresses of a user, the primary one among them',
    access: admin,
    scopes: ['read_user'],
    input: { id: Id, ...paging },
    returns: pageOf(Email),
    handle: async ({ db, input }) => {
      await checkUser(db, input.id);
      return listEmails(db, input.id, input);
    },
  }),
  post('/users/:id/emails', {
    summary: 'Add an email address for a user',
    access: admin,
    input: {
      id: Id,
      email: NewEmail,
      skip_confirmation: Type.Boolean({
        default: false,
        description: 'The address counts as confirmed, and no mail asks for it',
      }),
    },
    returns: one(Email),
    handle: ({ db, input }) => addEmail(db, input.id, asKept(input.email), input.skip_confirmation),
  }),
  del('/users/:id/emails/:email_id', {
    summary: 'Remove an email address of a user other than the primary one',
    access: admin,
    input: { id: Id, email_id: Id },
    returns: nothing,
    handle: ({ db, input, unmodified_since }) => removeEmail(db, input.id, input.email_id, unmodified_since),
  }),
];
