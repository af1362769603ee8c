/** Who may read and set custom attributes: administrators, for all owners. */
import { admin, groupForAdmin, projectForAdmin } from '../../../access/index.ts';
import { type Access, type AccessCall, type Caller, found, idIn } from '../../../http/index.ts';
import type { Owner } from './queries.ts';

type Granted = { caller: Caller; owner: { owner: Owner; id: number } };

async function userIn({ db, params }: AccessCall): Promise<{ id: number }> {
  const id = idIn(params.id!);
  const users = db.selectFrom('users').select('id');
  return found('User', id === undefined ? undefined : await users.where('id', '=', id).executeTakeFirst());
}

/** For each kind of owners, the rule that grants the one in `:id`. */
export const ownerForAdmin: Record<Owner, Access<Granted>> = {
  user: {
    ...admin,
    async check(call) {
      const { caller } = await admin.check(call);
      return { caller, owner: { owner: 'user', id: (await userIn(call)).id } };
    },
  },
  group: {
    ...groupForAdmin,
    async check(call) {
      const { caller, group } = await groupForAdmin.check(call);
      return { caller, owner: { owner: 'group', id: group.id } };
    },
  },
  project: {
    ...projectForAdmin,
    async check(call) {
      const { caller, project } = await projectForAdmin.check(call);
      return { caller, owner: { owner: 'project', id: project.id } };
    },
  },
};
