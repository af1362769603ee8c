/** The states of jobs and of commit statuses, and of the pipelines that they form (docs/reference/pipelines.md#status). */

/** The states that other systems report. */
export const reportedStates = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
export const states = [
  ...(['created', 'waiting_for_resource', 'preparing', 'scheduled', 'manual'] as const),
  ...(['pending', 'running', 'canceling', 'success', 'failed', 'canceled', 'skipped'] as const),
] as const;
export type State = (typeof states)[number];
export type ReportedState = (typeof reportedStates)[number];

export const finalStates = ['success', 'failed', 'canceled', 'skipped'] as const;

/** Whether a state is final. */
export const isFinal = (state: State): boolean => (finalStates as readonly State[]).includes(state);

/** Whether it will change without anybody's doing. */
export const isActive = (state: State): boolean => !isFinal(state) && state !== 'manual';

/** A job as it counts for its pipeline: the newest of its name. */
export interface Counted {
  status: State;
  allow_failure: boolean;
}

/** A state of a job, as the table below names them: a warning is a failure that is allowed, and what is left is a manual job that nobody has to start. */
type Word = State | 'warning' | 'left';

function wordOf({ status, allow_failure }: Counted): Word {
  if (!allow_failure) return status;
  if (status === 'failed' || status === 'canceled') return 'warning';
  return status === 'manual' ? 'left' : status;
}

/** The first row decides whose words include all. */
const all: readonly (readonly [State, readonly Word[]])[] = [
  ['skipped', ['skipped', 'left']],
  ['success', ['success', 'skipped', 'warning', 'left']],
  ['created', ['created', 'warning', 'left']],
  ['preparing', ['preparing', 'warning', 'left']],
  ['canceled', ['canceled', 'success', 'skipped', 'warning', 'left']],
  ['pending', ['pending', 'created', 'skipped', 'warning', 'left']],
];
/** If no row does, the first of these that is there. */
const some: readonly (readonly [Word, State])[] = [
  ['canceling', 'canceling'],
  ['running', 'running'],
  ['pending', 'running'],
  ['waiting_for_resource', 'waiting_for_resource'],
  ['manual', 'manual'],
  ['scheduled', 'scheduled'],
  ['preparing', 'preparing'],
  ['created', 'running'],
];

/** The state of several jobs together; null if there are none. */
export function overallStatus(jobs: Iterable<Counted>): State | null {
  const words = new Set<Word>();
  for (const job of jobs) words.add(wordOf(job));
  if (words.size === 0) return null;
  const row = all.find(([, allowed]) => [...words].every((word) => allowed.includes(word)));
  return row?.[0] ?? some.find(([word]) => words.has(word))?.[1] ?? 'failed';
}

/** Statuses of other systems, all of which count. */
export const ofReports = (statuses: readonly string[]): State | null =>
  overallStatus(statuses.map((status) => ({ status: status as State, allow_failure: false })));

/** The labels of states, for people. */
export const labels: Record<State, string> = {
  created: 'created',
  waiting_for_resource: 'waiting for resource',
  preparing: 'preparing',
  scheduled: 'delayed',
  manual: 'manual action',
  pending: 'pending',
  running: 'running',
  canceling: 'canceling',
  success: 'passed',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
};

export const scopes = ['running', 'pending', 'finished', 'branches', 'tags'] as const;

/** The sources of pipelines. */
export const sources = [
  ...(['push', 'web', 'trigger', 'schedule', 'api', 'external', 'pipeline', 'parent_pipeline'] as const),
  'merge_request_event',
] as const;
export type Source = (typeof sources)[number];
/** Further sources of v4, which filters accept. */
export const otherSources = [
  ...(['chat', 'webide', 'external_pull_request_event', 'ondemand_dast_scan', 'ondemand_dast_validation'] as const),
  ...(['security_orchestration_policy', 'container_registry_push'] as const),
];

/** The stage that contains all reported statuses. */
export const stage = 'external';
