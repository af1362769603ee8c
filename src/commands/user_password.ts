import { passwordLink_hours } from '../areas/people/sessions/index.ts';
import { changeUser, passwordReasons } from '../areas/people/users/index.ts';
import type { Config } from '../config.ts';
import { type Command, UsageError } from './command.ts';
import { briefly } from './database.ts';
import { passwordLinkOf } from './first_administrator.ts';
import { explainRefusal, namedUser } from './named_user.ts';
import { secretLine } from './secret_line.ts';
import { newPassword } from './user_create.ts';

export const userPassword: Command = {
  summary: 'Give a user a new password',
  help: `npm run coppice -- user password NAME

Options
  --stdin            reads the password from the first line of standard input, and does not show it at a terminal; otherwise a random one
                     is printed
  --link             changes nothing, and prints a link by which the user chooses a password; it works once, within 6 hours

It works for administrators who have lost theirs, too. Tokens of the user stay valid.`,
  options: { stdin: { type: 'boolean' }, link: { type: 'boolean' } },
  operand: 'NAME',
  run: async (given, config) => {
    const username = given.operand!;
    if (given.switches.link && given.switches.stdin) throw new UsageError('Give --link or --stdin, not both.');
    if (given.switches.link) return printLink(config, username);
    const own = given.switches.stdin ? await secretLine(process.stdin, `The new password of ${username}: `) : undefined;
    const reasons = own === undefined ? [] : passwordReasons(own);
    if (reasons.length > 0) throw new UsageError(`The password ${reasons.join(' and ')}.`);
    const password = own ?? newPassword();
    await briefly(config, async ({ db }) => {
      const id = await namedUser(db, username);
      await db.transaction().execute((tx) => changeUser(tx, id, { password }, 'unknown'));
      // Before the database is stopped, which may fail.
      console.log(
        own === undefined
          ? `The new password of ${username}, shown only this once: ${password}`
          : `${username} has a new password.`,
      );
    }).catch(explainRefusal);
    return 0;
  },
};

/** For servers that send no mail. */
async function printLink(config: Config, username: string): Promise<number> {
  await briefly(config, async ({ db }) => {
    const link = await passwordLinkOf(config, db, await namedUser(db, username));
    console.log(`${username} chooses a password here, once and within ${passwordLink_hours} hours:\n${link}`);
  }).catch(explainRefusal);
  return 0;
}
