/** Refuses changes of branches that policies keep as they are (docs/reference/security_policies.md#settings). */

import type { Database } from '../../../db/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import { forbidden } from '../../../http/index.ts';
import { reachedNow } from './queries.ts';
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

/**
 * Refuses that a protection ends.
 * @param name of the protection: of a branch, or a pattern
 * @throws ApiError 403
 */
export async function refuseUnprotection(db: Database, project_id: number, name: string): Promise<void> {
  const reached = await reachedNow(db, project_id);
  if (reached === null) return;
  const protects = (branch: string) => isAbout(name, branch) || isAbout(branch, name);
  const blocking = policiesFor(reached).find(
    ({ policy }) =>
      policy.settings.includes('block_branch_modification') &&
      policy.rules.some(({ branches, branch_type }) =>
        branch_type === 'default'
          ? protects(reached.default_branch)
          : branches?.length
            ? branches.some(protects)
            : true,
      ),
  );
  if (blocking) throw forbidden(protectionText(name, blocking.policy.name));
}
