/** Who may set push rules (docs/reference/push_rules.md#permissions). */
import { type Owner, ownerRole } from '../../../access/index.ts';
import { type Access, ApiError, type Caller, reaches } from '../../../http/index.ts';

const permission = 'admin_push_rules';
export const plan = 'premium';

/** Grants the project in `:id` to its maintainers and to holders of the permission. */
export const ofProject: Access<{ caller: Caller; owner: Owner }> = ownerRole('project', permission);

const owners = ownerRole('group', permission);

/** 404 of a group without push rules, or whose rules the caller may not see. */
export const noGroupRule = () => new ApiError(404, { message: '404 Not Found' });

/** Grants the group in `:id` to its owners and to holders of the permission. Others do not learn whether it has a rule, and nobody does without the plan. */
export const ofGroup: Access<{ caller: Caller; owner: Owner }> = {
  ...owners,
  check: async (call) => {
    const granted = await owners.check(call).catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 403 ? noGroupRule() : error;
    });
    if (!reaches(granted.caller.plan, plan)) throw noGroupRule();
    return granted;
  },
};
