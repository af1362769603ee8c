/** Mail with links to set a password, and deleting expired sessions and links. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { isLasting } from '../../../access/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';
import { linkPurpose, passwordLink_hours, passwordPage } from './rules.ts';

interface Receiver {
  id: number;
  name: string;
  username: string;
}

export const sendPasswordLink = job('send_password_link', {
  input: { email: Type.String() },
  retries: mailRetries,
  async run({ db, mailer, secrets, url, input: { email } }) {
    const { rows } = await sql<Receiver>`
      select users.id, users.name, users.username from emails join users on users.id = emails.user_id
       where emails.email = ${email} and emails.confirmed_at is not null and users.user_type = 'human'
         and users.state in ('active', 'deactivated')`.execute(db);
    const [user] = rows;
    if (!user) return;
    const { id, seed } = await db
      .insertInto('password_links')
      .values({ user_id: user.id })
      .returning(['id', 'seed'])
      .executeTakeFirstOrThrow();
    await mailer.send({
      to: { name: user.name, address: email },
      id: `password-link-${id}`,
      subject: 'Choose a new password',
      paragraphs: [
        `Someone, most likely you, asked for a new password for the account @${user.username} at ${url}.`,
        {
          link: 'Choose a new password',
          url: `${url}${passwordPage}?reset_password_token=${secrets.linkToken(linkPurpose, seed)}`,
        },
        `The link is valid for ${passwordLink_hours} hours and works once. If you did not ask for it, ignore this message: your password stays as it is.`,
      ],
    });
  },
});

/** Deletes ended sessions and expired links. */
export const deleteEndedSessions = job('delete_ended_sessions', {
  input: {},
  retries: 0,
  schedule: '17 3 * * *',
  async run({ db }) {
    await sql`delete from web_sessions where not ${isLasting}`.execute(db);
    await sql`
      delete from password_links where created_at < now() - make_interval(hours => ${sql.lit(passwordLink_hours)})`.execute(
      db,
    );
  },
});
