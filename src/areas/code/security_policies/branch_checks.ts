/** Refuses changes of branches that policies keep as they are (docs/reference/security_policies.md#settings). */

import type { Database } from '../../../db/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import { forbidden } from '../../../http/index.ts';
import type { Policy } from '../../../security_policies/index.ts';
import { policiesWithin, reachedNow } from './queries.ts';
import { policiesFor, protectionText, settingPolicies } from './rules.ts';

/** As the documentation of endpoints has it. */
export const branchRefusalText = `403 Forbidden - ${protectionText('<branch>', '<policy>')}`;

/**
 * Refuses that a branch stops being the default branch.
 * @throws ApiError 403
 */
export async function refuseOtherDefault(
  db: Database,
  project_id: number,
  branch: { name: string; is_protected: boolean },
): Promise<void> {
  const [policy] = settingPolicies(await reachedNow(db, project_id), 'block_branch_modification', branch);
  if (policy) throw forbidden(protectionText(branch.name, policy.name));
}

/** Whether a policy keeps a protection: one of its rules may be about a branch that it protects. */
function keeps({ settings, rules }: Policy, name: string, default_branches: readonly string[]): boolean {
  const protects = (branch: string) => isAbout(name, branch) || isAbout(branch, name);
  return (
    settings.includes('block_branch_modification') &&
    rules.some(({ branches, branch_type }) => {
      if (branch_type === 'default') return default_branches.some(protects);
      return branches?.length ? branches.some(protects) : true;
    })
  );
}

/**
 * Refuses that a protection ends.
 * @param name of the protection: of a branch, or a pattern
 * @throws ApiError 403
 */
export async function refuseUnprotection(db: Database, project_id: number, name: string): Promise<void> {
  const reached = await reachedNow(db, project_id);
  if (reached === null) return;
  const blocking = policiesFor(reached).find(({ policy }) => keeps(policy, name, [reached.default_branch]));
  if (blocking) throw forbidden(protectionText(name, blocking.policy.name));
}

/**
 * Refuses that a protection of a top-level group ends which a policy needs anywhere in it.
 * @param name of the protection: of a branch, or a pattern
 * @throws ApiError 403
 */
export async function refuseGroupUnprotection(db: Database, group_id: number, name: string): Promise<void> {
  const { policies, default_branches } = await policiesWithin(db, group_id);
  const blocking = policies.find((policy) => policy.enabled && keeps(policy, name, default_branches));
  if (blocking) throw forbidden(protectionText(name, blocking.name));
}
