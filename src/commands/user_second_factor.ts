import { removeAllFactors } from '../areas/people/second_factors/index.ts';
import { type Command, UsageError } from './command.ts';
import { briefly } from './database.ts';
import { namedUser } from './named_user.ts';

export const userSecondFactor: Command = {
  summary: 'Remove the second factors of a user',
  help: `npm run coppice -- user second-factor NAME --remove

For somebody who has lost them, administrators too. Their sessions end, their recovery codes no longer count, and they get mail.`,
  options: { remove: { type: 'boolean' } },
  operand: 'NAME',
  run: async (given, config) => {
    const username = given.operand!;
    if (!given.switches.remove) throw new UsageError('Give --remove: there is nothing else to do.');
    await briefly(config, async ({ db }) => {
      const id = await namedUser(db, username);
      const had = await db.transaction().execute((tx) => removeAllFactors(tx, id));
      console.log(had ? `${username} has no second factor any more.` : `${username} has no second factor.`);
    });
    return 0;
  },
};
