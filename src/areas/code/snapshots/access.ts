/** Restricts copies of whole repositories to administrators. Others get 401, which clients of this endpoint expect. */
import { projectForAdmin } from '../../../access/index.ts';
import { unauthorized } from '../../../http/index.ts';

export const snapshotReader: typeof projectForAdmin = {
  ...projectForAdmin,
  async check(call) {
    if (!call.caller?.admin) throw unauthorized();
    return projectForAdmin.check(call);
  },
};
