/** Which jobs of a pipeline go next (docs/reference/pipelines.md#who-goes-next). Pure functions. */
import { type Counted, isFinal, overallStatus, type State } from '../../code/pipelines/index.ts';

export type RunWhen = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';

/** A current job of a pipeline. */
export interface PlannedJob extends Counted {
  id: number;
  name: string;
  stage_index: number;
  run_when: RunWhen;
  /** The names of the jobs that it waits for; null if it waits for all of the earlier stages. */
  needs: readonly string[] | null;
}

/** What becomes of a created job: it may go on, by itself or by a person, or it is skipped. */
export type Next = 'ready' | 'manual' | 'scheduled' | 'skipped';

/** Whether nothing waits for it any more: a manual job that nobody has to start is as good as skipped. */
const isSettled = ({ status, allow_failure }: Counted) => isFinal(status) || (status === 'manual' && allow_failure);
const isPassedOver = (job: Counted) => job.status === 'skipped' || job.status === 'manual';

const begun: Readonly<Record<RunWhen, { as: Next; after: readonly State[] }>> = {
  on_success: { as: 'ready', after: ['success', 'skipped'] },
  manual: { as: 'manual', after: ['success', 'skipped'] },
  delayed: { as: 'scheduled', after: ['success', 'skipped'] },
  on_failure: { as: 'ready', after: ['failed'] },
  always: { as: 'ready', after: ['success', 'failed', 'skipped', 'canceled'] },
};

/**
 * What becomes of a created job.
 * @param before the jobs that it waits for: those that it needs, or all of the earlier stages
 * @returns undefined while one of them is not settled
 */
export function nextOf(
  { run_when, needs }: Pick<PlannedJob, 'run_when' | 'needs'>,
  before: readonly Counted[],
): Next | undefined {
  if (!before.every(isSettled)) return undefined;
  if (needs !== null && run_when !== 'always' && before.some(isPassedOver)) return 'skipped';
  const { as, after } = begun[run_when];
  return after.includes(overallStatus(before) ?? 'success') ? as : 'skipped';
}

/** The distinct states of jobs: each counts once. */
class States {
  readonly #known = new Map<string, Counted>();

  add({ status, allow_failure }: Counted): void {
    this.#known.set(`${status} ${allow_failure}`, { status, allow_failure });
  }

  get all(): Counted[] {
    return [...this.#known.values()];
  }
}

/** The jobs of a stage, each behind the jobs of the same stage that it needs. */
function inOrder(jobs: readonly PlannedJob[]): PlannedJob[] {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const ordered = new Set<PlannedJob>();
  const visiting = new Set<PlannedJob>();
  const visit = (job: PlannedJob) => {
    if (ordered.has(job) || visiting.has(job)) return;
    visiting.add(job);
    for (const need of job.needs ?? []) {
      const needed = byName.get(need);
      if (needed) visit(needed);
    }
    ordered.add(job);
  };
  jobs.forEach(visit);
  return [...ordered];
}

/**
 * The created jobs of a pipeline that go on now. A job that is skipped decides on later ones at once.
 * @param jobs all current ones
 */
export function advance(jobs: readonly PlannedJob[]): Map<number, Next> {
  const found = new Map<number, Next>();
  const now = new Map<string, Counted>(jobs.map((job) => [job.name, job]));
  const earlier = new States();
  const stages = [...Map.groupBy(jobs, ({ stage_index }) => stage_index)].toSorted(([one], [other]) => one - other);
  for (const [, stage] of stages) {
    const before = earlier.all;
    for (const job of inOrder(stage)) {
      if (job.status !== 'created') continue;
      const awaited = job.needs?.flatMap((name) => now.get(name) ?? []) ?? before;
      const next = nextOf(job, awaited);
      if (next === undefined) continue;
      found.set(job.id, next);
      now.set(job.name, { status: next === 'ready' ? 'pending' : next, allow_failure: job.allow_failure });
    }
    for (const { name } of stage) earlier.add(now.get(name)!);
  }
  return found;
}

/** Whether a job can be started by a person. */
export const isPlayable = (status: State): boolean => status === 'manual' || status === 'scheduled';

/** Whether a job that has ended can be replaced by a new one. */
export const isRetryable = (status: State): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled';

/** Which of the jobs that want a resource is next. */
export const processModes = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const;
export type ProcessMode = (typeof processModes)[number];

/** The states of the jobs that one is chosen from: of some modes also those that do not wait yet, which the others let go first. */
export const upcoming = (mode: ProcessMode): readonly State[] =>
  mode === 'oldest_first' || mode === 'newest_first'
    ? ['created', 'scheduled', 'waiting_for_resource']
    : ['waiting_for_resource'];

/** Whether jobs of later pipelines come first. */
export const isNewestFirst = (mode: ProcessMode): boolean => mode === 'newest_first' || mode === 'newest_ready_first';

/** The states in which a job occupies its resource. */
export const occupying = ['pending', 'running', 'canceling'] as const satisfies readonly State[];
