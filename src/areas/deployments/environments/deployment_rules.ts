/**
 * What becomes of a deployment, by the protections of its environment, the approvals that they need and the freeze of its project: one decision for recording one, changing its
 * status and approving it. Pure functions.
 */
import { type DeploymentStatus, type RecordedStatus, transitionReason } from './rules.ts';

/** What a freeze does to a deployment that begins now: nothing if the project is not frozen; a Maintainer can override one that refuses. */
export type Freeze = 'none' | 'marks' | 'refuses';

export interface Situation {
  /** The status before; undefined for a new deployment. */
  from: DeploymentStatus | undefined;
  /** The status that is recorded; `running` after the last approval. */
  to: RecordedStatus;
  /** Whether every protection of the environment lets the caller deploy; those who approve need no such right. */
  may_deploy: boolean;
  /** The number of approvals that rules need and that are not given yet. */
  missing_approvals: number;
  freeze: Freeze;
}

export type Outcome =
  | { refused: 'protected' | 'transition' | 'approvals' | 'freeze' }
  | { status: DeploymentStatus; during_freeze: boolean };

/** Statuses that deploy something. */
const isBeginning = (status: RecordedStatus): boolean => status === 'running' || status === 'success';

/** Statuses of deployments that have ended. */
export const isFinal = (status: DeploymentStatus): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled' || status === 'skipped';

/**
 * The new status of a deployment, or why it is refused. What began before a freeze, or with its approvals, may end in any way. A deployment that waits for approvals begins with
 * the last of them: a freeze counts then, and not when it was recorded.
 */
export function outcomeOf({ from, to, may_deploy, missing_approvals, freeze }: Situation): Outcome {
  if (!may_deploy) return { refused: 'protected' };
  if (from !== undefined && transitionReason(from, to) !== undefined) return { refused: 'transition' };
  const begins = isBeginning(to) && from !== 'running';
  if (!begins) return { status: to, during_freeze: false };
  if (missing_approvals > 0)
    return from === undefined && to === 'running'
      ? { status: 'blocked', during_freeze: false }
      : { refused: 'approvals' };
  return freeze === 'refuses' ? { refused: 'freeze' } : { status: to, during_freeze: freeze === 'marks' };
}
