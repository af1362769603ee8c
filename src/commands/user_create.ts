import { randomBytes } from 'node:crypto';
import { emailReasons } from '../areas/people/emails/index.ts';
import { createUser } from '../areas/people/users/index.ts';
import { type Command, required, UsageError } from './command.ts';
import { briefly } from './database.ts';
import { explainRefusal } from './named_user.ts';

/** A password that people can type: 120 random bits. */
export const newPassword = () => randomBytes(15).toString('base64url');

export const userCreate: Command = {
  summary: 'Create a user',
  help: `Options
  --username NAME    required
  --email ADDRESS    required
  --name NAME        the full name; default: the username
  --password TEXT    at least 8 characters; default: a random one, which is printed
  --admin            makes the user an administrator`,
  options: {
    username: { type: 'string' },
    email: { type: 'string' },
    name: { type: 'string' },
    password: { type: 'string' },
    admin: { type: 'boolean' },
  },
  run: async (given, config) => {
    const username = required(given, 'username');
    const email = required(given, 'email');
    const { name = username, password } = given.text;
    const { admin = false } = given.switches;
    if (!/^[A-Za-z0-9][\w.-]{0,254}$/.test(username))
      throw new UsageError('A username consists of letters, digits, “_”, “-” and “.”.');
    if (emailReasons(email).length > 0) throw new UsageError(`“${email}” is not an email address.`);
    if (password !== undefined && password.length < 8)
      throw new UsageError('A password must have at least 8 characters.');
    const chosen = password ?? newPassword();
    await briefly(config, async ({ db }) => {
      await db
        .transaction()
        .execute((tx) => createUser(tx, { username, name, email, password: chosen, admin, confirmed: true }));
      // Before the database is stopped, which may fail.
      console.log(`The ${admin ? 'administrator' : 'user'} ${username} was created.`);
      if (password === undefined) console.log(`The password, shown only this once: ${chosen}`);
    }).catch(explainRefusal);
    return 0;
  },
};
