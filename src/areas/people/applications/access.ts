/** Who may have applications of their own (docs/reference/applications.md#permissions). */
import { groupRole, signedIn } from '../../../access/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { Owner } from './queries.ts';

interface Granted {
  caller: Caller;
  owner: Owner;
}

/** A user, for what is theirs. */
export const ownApplications: Access<Granted> = {
  ...signedIn,
  async check(call) {
    const { caller } = await signedIn.check(call);
    return { caller, owner: { user_id: caller.id } };
  },
};

/** The same, as long as users may register applications. */
export const newOwnApplications: Access<Granted> = {
  ...ownApplications,
  async check(call) {
    const granted = await ownApplications.check(call);
    if (!(await settingsOf(call.db)).user_oauth_applications) throw forbidden();
    return granted;
  },
};

const groupOwner = groupRole('owner');

/** An owner of a group, for what is the group's. */
export const groupApplications: Access<Granted> = {
  ...groupOwner,
  async check(call) {
    const { caller, group } = await groupOwner.check(call);
    return { caller, owner: { group_id: group.id } };
  },
};
