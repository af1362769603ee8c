/** What runners may say of jobs, and when a job is tried again (docs/reference/runner_protocol.md). Pure functions. */
import type { AllowFailure, Job } from '../../../ci_configuration/index.ts';

/** The reasons for a failure that a runner may give. */
export const runnerReasons = [
  ...([
    'unknown_failure',
    'script_failure',
    'api_failure',
    'stuck_or_timeout_failure',
    'runner_system_failure',
  ] as const),
  ...(['runner_unsupported', 'job_execution_timeout', 'image_pull_failure', 'runner_configuration_error'] as const),
  ...(['runner_external_dependency_failure', 'runner_interrupted', 'missing_dependency_failure'] as const),
] as const;

/** The reasons that the server gives when it does not hand a job out, or takes it back. */
export type FailureReason =
  | (typeof runnerReasons)[number]
  | ('data_integrity_failure' | 'scheduler_failure' | 'user_blocked' | 'builds_disabled' | 'project_deleted')
  | ('archived_failure' | 'no_matching_runner' | 'trace_size_exceeded' | 'release_failure')
  | 'forward_deployment_failure';

/** The reason that is stored for one that a runner gave. */
export function reasonOf(given: unknown): FailureReason {
  if (given === undefined || given === null || given === '') return 'script_failure';
  return runnerReasons.find((reason) => reason === given) ?? 'unknown_failure';
}

/** Reasons for which a job is never tried again: the next attempt would end in the same way. */
const lasting: ReadonlySet<string> = new Set<FailureReason>([
  ...(['runner_unsupported', 'missing_dependency_failure', 'data_integrity_failure', 'scheduler_failure'] as const),
  ...(['user_blocked', 'builds_disabled', 'project_deleted', 'archived_failure', 'no_matching_runner'] as const),
  ...(['trace_size_exceeded', 'forward_deployment_failure', 'release_failure'] as const),
]);

/**
 * Whether a failed job starts again by itself.
 * @param before how many attempts failed before this one
 */
export function isTriedAgain(
  retry: Job['retry'],
  { before, reason, exit_code }: { before: number; reason: FailureReason; exit_code: number | undefined },
): boolean {
  if (!retry || before >= retry.max || lasting.has(reason)) return false;
  if (retry.when.length === 0 && retry.exit_codes.length === 0) return true;
  const isNamed = retry.when.includes('always') || retry.when.includes(reason);
  return isNamed || (exit_code !== undefined && retry.exit_codes.includes(exit_code));
}

/** Whether the failure of a job with this exit code counts as a warning only. */
export const isAllowedToFail = (allowed: AllowFailure, exit_code: number | undefined): boolean =>
  typeof allowed === 'boolean' ? allowed : exit_code !== undefined && allowed.exit_codes.includes(exit_code);
