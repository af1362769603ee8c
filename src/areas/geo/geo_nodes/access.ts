/** Who may change nodes. */
import { admin } from '../../../access/index.ts';
import { type Access, ApiError } from '../../../http/index.ts';

export const readOnly = 'You cannot perform write operations on a read-only instance';

/** Grants administrators access to change nodes, except on a secondary, where the rows are replicas. */
export const changingAdmin: typeof admin = {
  rule: admin.rule,
  async check(call) {
    const granted = await admin.check(call);
    if (call.geo.role === 'secondary') throw new ApiError(403, { message: readOnly });
    return granted;
  },
} satisfies Access<unknown>;
