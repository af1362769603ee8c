/** Access rules for push rules (docs/reference/push_rules.md#permissions). */
import { mayReadCode, type Owner, ownerRole, type Project, projectRole } from '../../../access/index.ts';
import { type Access, ApiError, type Caller, forbidden, reaches } from '../../../http/index.ts';

const permission = 'admin_push_rules';
export const plan = 'premium';

/** Grants the project in `:id` to maintainers and to members with the permission. */
export const ofProject: Access<{ caller: Caller; owner: Owner }> = ownerRole('project', permission);

const maintainers = projectRole('maintainer', { permission, archived: true });

/** The same for callers who may read the code: the result of a check contains commit messages and file paths. A check changes nothing. */
export const codeChecker: Access<{ caller: Caller; project: Project }> = {
  ...maintainers,
  check: async (call) => {
    const granted = await maintainers.check(call);
    if (!mayReadCode(granted.project)) throw forbidden();
    return granted;
  },
};

const owners = ownerRole('group', permission);

/** The 404 for a group without a push rule, and for callers who may not see it. */
export const noGroupRule = () => new ApiError(404, { message: '404 Not Found' });

/** Grants the group in `:id` to owners and to members with the permission. Others do not learn whether it has a rule, and nobody does without the plan. */
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
