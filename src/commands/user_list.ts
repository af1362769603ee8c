import type { Database } from '../db/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

const at_once = 1000;

export const userList: Command = {
  summary: 'List the users',
  help: `Prints a line for each user, by username: the username, the state of the account, whether it is an administrator's, the primary address, and the day
of the last request, separated by tabs. Accounts of bots and service accounts are listed, too.`,
  options: {},
  run: async (_given, config) => {
    await briefly(config, async ({ db }) => {
      let users = await usersAfter(db, '');
      while (users.length > 0) {
        for (const { username, state, admin, email, last_activity_on } of users)
          console.log(
            [username, state, admin ? 'administrator' : 'user', email, last_activity_on ?? 'never'].join('\t'),
          );
        users = users.length < at_once ? [] : await usersAfter(db, users.at(-1)!.username);
      }
    });
    return 0;
  },
};

const usersAfter = (db: Database, username: string) =>
  db
    .selectFrom('users')
    .select(['username', 'state', 'admin', 'email', 'last_activity_on'])
    .where('username', '>', username)
    .orderBy('username')
    .limit(at_once)
    .execute();
