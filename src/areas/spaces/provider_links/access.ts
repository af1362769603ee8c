/** Who changes the links of groups with providers: Owners, and for directories perhaps only administrators. */
import { groupRole, withChange } from '../../../access/index.ts';
import { forbidden } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

export const owner = groupRole('owner');

export const linker = withChange(owner, ({ group }) => ({ group_id: group.id }));

const directoryOwner: typeof owner = {
  ...owner,
  async check(call) {
    const granted = await owner.check(call);
    const { allow_group_owners_to_manage_ldap } = await settingsOf(call.db);
    if (!allow_group_owners_to_manage_ldap && !granted.caller.admin) throw forbidden();
    return granted;
  },
};

export const directoryLinker = withChange(directoryOwner, ({ group }) => ({ group_id: group.id }));
