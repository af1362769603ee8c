/** Changes of access rights: they lock the tree and check the access rule again, since the caller may have lost the right while the change waited for the lock. */
import type { Kysely } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, AccessCall } from '../http/endpoint.ts';
import { ApiError, RefusedAgain } from '../http/errors.ts';
import { callerNow } from './authentication.ts';
import type { Subtree } from './authorizations.ts';
import { lockPlace } from './tree_locks.ts';

export interface Changing<Granted> {
  /**
   * Makes a change in a transaction that has locked the tree of the group or project.
   * @param run gets what the rule grants under the lock
   * @param also other namespaces whose trees the change needs
   * @throws ApiError as the rule does, when it no longer admits the caller
   */
  change<T>(run: (tx: Kysely<DB>, granted: Granted) => Promise<T>, also?: readonly number[]): Promise<T>;
}

/**
 * Adds `change` to what a rule grants.
 * @param placeOf the group or project that was granted
 */
export const withChange = <Granted extends object>(
  access: Access<Granted>,
  placeOf: (granted: Granted) => Subtree,
): Access<Granted & Changing<Granted>> => ({
  ...access,
  async check(call) {
    const granted = await access.check(call);
    const place = placeOf(granted);
    // By its ID, since its path may change meanwhile.
    const params = { ...call.params, id: String('group_id' in place ? place.group_id : place.project_id) };
    return {
      ...granted,
      change: (run, also) =>
        call.db.transaction().execute(async (tx) => {
          await lockPlace(tx, place, also);
          return run(tx, await grantedAgain(access, { ...call, db: tx, params }));
        }),
    };
  },
});

async function grantedAgain<Granted>(access: Access<Granted>, call: AccessCall): Promise<Granted> {
  try {
    return await access.check({ ...call, caller: call.caller && (await callerNow(call.db, call.caller)) });
  } catch (error) {
    throw error instanceof ApiError ? new RefusedAgain(error) : error;
  }
}
