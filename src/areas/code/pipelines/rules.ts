/** The states of commit statuses, and of the pipelines that they form (docs/reference/pipelines.md#status). */

export const states = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
export type State = (typeof states)[number];

/** Whether a state is final. */
export const isFinal = (state: State): boolean => state !== 'pending' && state !== 'running';

/**
 * Combines several statuses into one.
 * @param statuses the current statuses; null is returned if there are none
 */
export function overallStatus(statuses: readonly string[]): State | null {
  const has = (status: string) => statuses.includes(status);
  const only = (...allowed: string[]) => statuses.every((status) => allowed.includes(status));
  if (statuses.length === 0) return null;
  if (only('skipped')) return 'skipped';
  if (only('success', 'skipped')) return 'success';
  if (only('canceled', 'success', 'skipped')) return 'canceled';
  if (only('pending', 'skipped')) return 'pending';
  return has('running') || has('pending') ? 'running' : 'failed';
}

/** The label of a state, for people. */
export const labels: Record<State, string> = {
  pending: 'pending',
  running: 'running',
  success: 'passed',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
};

export const scopes = ['running', 'pending', 'finished', 'branches', 'tags'] as const;

/** The possible sources of a pipeline; here it is always `external`. */
export const sources = [
  ...(['push', 'web', 'trigger', 'schedule', 'api', 'external', 'pipeline', 'chat', 'webide'] as const),
  ...(['merge_request_event', 'external_pull_request_event', 'parent_pipeline', 'ondemand_dast_scan'] as const),
  ...(['ondemand_dast_validation', 'security_orchestration_policy', 'container_registry_push'] as const),
];

/** The stage that contains all statuses. */
export const stage = 'external';
