/** What jobs say about others: stages, needs, dependencies and the job that stops an environment. */
import type { Bridge, Job, Need } from './types.ts';
import { Invalid } from './values.ts';

type AnyJob = Job | Bridge;

/** The jobs that a list of needs names. */
const neededIn = (needs: readonly Need[] | undefined) => needs?.filter((need) => need.type === 'job') ?? [];

class Relations {
  readonly #jobs: ReadonlyMap<string, AnyJob>;
  readonly #places: ReadonlyMap<string, number>;
  readonly #stages: readonly string[];

  constructor(jobs: readonly AnyJob[], stages: readonly string[]) {
    this.#jobs = new Map(jobs.map((job) => [job.name, job]));
    this.#places = new Map(stages.map((stage, place) => [stage, place]));
    this.#stages = stages;
  }

  check(job: AnyJob): void {
    const { written_name, stage } = job;
    if (!this.#places.has(stage))
      throw new Invalid(
        `${written_name} job: chosen stage ${stage} does not exist; available stages are ${this.#stages.join(', ')}`,
      );
    if (job.type === 'job') for (const name of job.dependencies ?? []) this.#checkDependency(job, name);
    this.#checkNeeds(job, job.needs);
    for (const rule of job.rules ?? []) this.#checkNeeds(job, rule.needs);
    this.#checkStop(job);
  }

  /** Whether a job runs after another one: in a later stage, or in the same one where this may be. */
  #isBefore(other: AnyJob, { stage }: AnyJob, mayBeSame: boolean): boolean {
    const [place, otherPlace] = [this.#places.get(stage)!, this.#places.get(other.stage)];
    return otherPlace === undefined || otherPlace < place || (mayBeSame && otherPlace === place);
  }

  #checkDependency(job: Job, name: string): void {
    const found = this.#jobs.get(name);
    if (!found) throw new Invalid(`${job.written_name} job: undefined dependency: ${name}`);
    if (!this.#isBefore(found, job, job.needs !== undefined))
      throw new Invalid(
        `${job.written_name} job: dependency ${found.written_name} is not defined in current or prior stages`,
      );
  }

  #checkNeeds(job: AnyJob, needs: readonly Need[] | undefined): void {
    const { written_name } = job;
    const seen = new Set<string>();
    const doubled = new Set<string>();
    for (const need of neededIn(needs)) {
      const found = this.#jobs.get(need.job);
      if (!found && !need.optional) throw new Invalid(`${written_name} job: undefined need: ${need.job}`);
      if (found && !this.#isBefore(found, job, true))
        throw new Invalid(`${written_name} job: need ${found.written_name} is not defined in current or prior stages`);
      if (seen.has(need.job)) doubled.add(found?.written_name ?? need.job);
      seen.add(need.job);
    }
    if (doubled.size > 0)
      throw new Invalid(`${written_name} has the following needs duplicated: ${[...doubled].join(', ')}.`);
  }

  #checkStop({ written_name, environment }: AnyJob): void {
    const name = environment?.on_stop;
    if (name === undefined) return;
    const fault = (text: string) => new Invalid(`${written_name} job: on_stop job ${name} ${text}`);
    const found = this.#jobs.get(name);
    if (!found) throw fault('is not defined');
    if (!found.environment) throw fault('does not have environment defined');
    if (found.environment.name !== environment?.name) throw fault('have different environment name');
    if (found.environment.action !== 'stop') throw fault('needs to have action stop defined');
  }

  /** Follows needs without recursion, since a chain of them may be as long as there are jobs. */
  checkCircles(): void {
    const isDone = new Map<string, boolean>();
    for (const first of this.#jobs.keys()) {
      const way: { name: string; left: string[] }[] = [];
      const enter = (name: string) => {
        const job = this.#jobs.get(name);
        if (!job || isDone.get(name)) return;
        if (isDone.has(name))
          throw circle(
            way.map((each) => each.name),
            name,
          );
        isDone.set(name, false);
        way.push({ name, left: neededIn(job.needs).map((need) => need.job) });
      };
      enter(first);
      for (let last = way.at(-1); last; last = way.at(-1)) {
        const next = last.left.pop();
        if (next !== undefined) enter(next);
        else {
          isDone.set(last.name, true);
          way.pop();
        }
      }
    }
  }
}

function circle(way: readonly string[], name: string): Invalid {
  const names = way.slice(way.indexOf(name));
  const text = names.length === 1 ? `self-dependency: ${name}` : [...names, name].join(' -> ');
  return new Invalid(`The pipeline has circular dependencies: ${text}`);
}

/**
 * Checks what jobs say about others.
 * @throws Invalid for the first error, in the order of the jobs
 */
export function checkRelations(jobs: readonly AnyJob[], stages: readonly string[]): void {
  const relations = new Relations(jobs, stages);
  for (const job of jobs) relations.check(job);
  relations.checkCircles();
}
