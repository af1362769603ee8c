import { blockUser, unblockUser } from '../areas/people/users/index.ts';
import type { Database } from '../db/index.ts';
import { type Command, OperatorError } from './command.ts';
import { briefly } from './database.ts';
import { explainRefusal, namedUser } from './named_user.ts';

interface Blocking {
  summary: string;
  help: string;
  /** @returns whether something changed */
  change(db: Database, id: number): Promise<boolean>;
  /** The resulting state of the user, for the message. */
  state: string;
}

/** Banned accounts and accounts that wait for approval are not changed. */
async function refuseOtherState(db: Database, id: number, username: string, wanted: string): Promise<void> {
  const { state } = await db.selectFrom('users').select('state').where('id', '=', id).executeTakeFirstOrThrow();
  if (state !== wanted)
    throw new OperatorError(`${username} is ${state.replaceAll('_', ' ')}, which this command does not change.`);
}

const command = ({ summary, help, change, state }: Blocking): Command => ({
  summary,
  help,
  options: {},
  operand: 'NAME',
  run: async (given, config) => {
    const username = given.operand!;
    await briefly(config, async ({ db }) => {
      const id = await namedUser(db, username);
      const hasChanged = await change(db, id);
      if (!hasChanged) await refuseOtherState(db, id, username, state);
      console.log(`${username} is ${hasChanged ? 'now' : 'already'} ${state}.`);
    }).catch(explainRefusal);
    return 0;
  },
});

export const userBlock = command({
  summary: 'Block a user',
  help: 'npm run coppice -- user block NAME\n\nThe user can no longer sign in, and their tokens and keys are refused from the next request on, by every server. What they have made stays.',
  change: (db, id) => blockUser(db, undefined, id),
  state: 'blocked',
});

export const userUnblock = command({
  summary: 'Unblock a user',
  help: 'npm run coppice -- user unblock NAME\n\nThe user can sign in again, and their tokens and keys work as before.',
  change: unblockUser,
  state: 'active',
});
