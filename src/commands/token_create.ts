import { tokenScopes } from '../access/index.ts';
import { createToken } from '../areas/people/personal_access_tokens/index.ts';
import { type Command, readDay, required, UsageError } from './command.ts';
import { briefly } from './database.ts';
import { namedUser } from './named_user.ts';

export const tokenCreate: Command = {
  summary: 'Create a personal access token for a user and print it',
  help: `Options
  --user NAME        required
  --scopes LIST      required, separated by commas: ${tokenScopes.join(', ')}
  --expires DATE     like 2027-01-01; the token stops working when this day begins; default: never
  --name TEXT        name of the token

Only the token is printed to standard output, so that scripts can read it.`,
  options: {
    user: { type: 'string' },
    scopes: { type: 'string' },
    expires: { type: 'string' },
    name: { type: 'string' },
  },
  run: async (given, config) => {
    const username = required(given, 'user');
    const scopes = readScopes(required(given, 'scopes'));
    const expires_at = given.text.expires === undefined ? null : readEnd(given.text.expires);
    const { name = 'Created on the command line' } = given.text;
    await briefly(config, async ({ db }) => {
      const value = await db.transaction().execute(async (tx) => {
        const user_id = await namedUser(tx, username);
        return (await createToken(tx, { user_id, name, scopes, expires_at })).value;
      });
      console.log(value); // before the database is stopped, which may fail
    });
    return 0;
  },
};

function readScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  const unknown = scopes.filter((scope) => !tokenScopes.some((known) => known === scope));
  if (unknown.length > 0)
    throw new UsageError(`There is no scope ${unknown.join(' or ')}. The scopes are ${tokenScopes.join(', ')}.`);
  return [...new Set(scopes)];
}

function readEnd(text: string): string {
  const day = readDay(text);
  if (Date.parse(day) <= Date.now()) throw new UsageError(`The token would have expired already on ${text}.`);
  return day;
}
