/** Looks up users that commands name. */
import type { Database } from '../db/index.ts';
import { ApiError, textOf } from '../http/index.ts';
import { OperatorError } from './command.ts';

/**
 * The id of a user.
 * @throws OperatorError when there is no user with this name
 */
export async function namedUser(db: Database, username: string): Promise<number> {
  const user = await db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirst();
  if (user === undefined) throw new OperatorError(`There is no user ${username}.`);
  return user.id;
}

/** Turns a refusal of the API into a sentence for the operator. */
export function explainRefusal(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new OperatorError(`${textOf(error).replace(/\.$/, '')}.`);
}
