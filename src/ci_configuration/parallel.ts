/** `parallel`: one entry of the file becomes several jobs, and those that name it mean all of them. */
import type { WrittenEntry } from './entries.ts';
import type { Combination, Matrix, Parallel, WrittenNeed } from './shapes/needs.ts';
import type { WrittenRule } from './shapes/rules.ts';
import type { Bridge, Entry, Job, Need, Rule, Variable } from './types.ts';
import { Invalid } from './values.ts';

const maximumName_chars = 255;
const maximumNeeds = 50;
/** More than a pipeline may have, since rules leave jobs out, and few enough to go from thread to thread in a moment. */
const maximumJobs = 20_000;

type Values = readonly (readonly [key: string, value: string])[];

/** One of the jobs that an entry becomes. */
interface Node {
  name: string;
  values: Values;
  node?: Entry['node'];
}

/** All ways to choose one value for each key, the last key changing first. */
const choices = (keys: Combination): Values[] =>
  keys.reduce<Values[]>(
    (chosen, [key, values]) => chosen.flatMap((before) => values.map((value) => [...before, [key, value] as const])),
    [[]],
  );

function nodesOf(name: string, parallel: Parallel | undefined): Node[] {
  if (!parallel) return [{ name, values: [] }];
  const all: Values[] =
    'total' in parallel ? Array.from({ length: parallel.total }, () => []) : parallel.matrix.flatMap(choices);
  const byValues = all.map((values) => `${name}: [${values.map(([, value]) => value).join(', ')}]`);
  // Names must be short, and each a name of one job.
  const isNumbered =
    'total' in parallel ||
    byValues.some((each) => each.length > maximumName_chars) ||
    new Set(byValues).size < byValues.length;
  return all.map((values, index) => ({
    name: isNumbered ? `${name} ${index + 1}/${all.length}` : byValues[index]!,
    values,
    node: { index: index + 1, total: all.length },
  }));
}

const matches = ({ values }: Node, matrix: Matrix): boolean =>
  matrix.some((keys) =>
    keys.every(([key, wanted]) => values.some(([own, value]) => own === key && wanted.includes(value))),
  );

/** The entries of a file by name, each with the jobs that it becomes. */
class Multiplying {
  readonly #nodes: ReadonlyMap<string, readonly Node[]>;

  constructor(entries: readonly WrittenEntry[]) {
    this.#nodes = new Map(entries.map(({ written_name, parallel }) => [written_name, nodesOf(written_name, parallel)]));
  }

  /** The names that a name of the file stands for; one that is not there stands for itself. */
  #namesOf(name: string): readonly string[] {
    return this.#nodes.get(name)?.map((node) => node.name) ?? [name];
  }

  #needed({ job, matrix }: Extract<WrittenNeed, { type: 'job' }>): readonly string[] {
    if (!matrix) return this.#namesOf(job);
    const found = this.#nodes.get(job)?.filter((node) => matches(node, matrix)) ?? [];
    if (found.length > 0) return found.map(({ name }) => name);
    return [
      `${job}: [${matrix
        .flatMap(choices)[0]!
        .map(([, value]) => value)
        .join(', ')}]`,
    ];
  }

  /** @throws Invalid, before there are too many of them to hold */
  needs(name: string, written: readonly WrittenNeed[]): Need[] {
    // The pipeline in one of a bridge is its upstream.
    const others = written.filter((need) => need.type !== 'bridge');
    const counts = others.map((need) => (need.type === 'job' ? this.#needed(need).length : 1));
    const count = counts.reduce((total, each) => total + each, 0);
    if (count > maximumNeeds)
      throw new Invalid(
        `${name}: one job can only need ${maximumNeeds} others, but you have listed ${count}. See needs keyword documentation for more details`,
      );
    return others.flatMap((need): Need[] => {
      if (need.type !== 'job') return [need];
      const { type, artifacts, optional } = need;
      return this.#needed(need).map((job) => ({ type, job, artifacts, optional }));
    });
  }

  #rule(name: string, { start_in, needs, variables = [], ...rule }: WrittenRule): Rule {
    return { ...rule, start_in_s: start_in, variables, needs: needs && this.needs(name, needs) };
  }

  jobsOf(entry: WrittenEntry): (Job | Bridge)[] {
    const { parallel: _, needs, rules, ...others } = entry;
    const { written_name } = others;
    const resolved = {
      needs: needs && this.needs(written_name, needs),
      rules: rules?.map((rule) => this.#rule(written_name, rule)),
    };
    const written = others.type === 'job' ? others.dependencies : undefined;
    const dependencies = written && [...new Set(written)].flatMap((name) => this.#namesOf(name));
    return this.#nodes.get(written_name)!.map(({ name, values, node }) => {
      const added = values.map(([key, value]): Variable => ({ key, value, expand: true }));
      const variables = [...others.variables.filter(({ key }) => !added.some((each) => each.key === key)), ...added];
      const job = { ...others, ...resolved, name, node, variables };
      return dependencies ? { ...job, dependencies } : job;
    }) as (Job | Bridge)[];
  }
}

/**
 * The jobs of the entries, in the order of the file.
 * @throws Invalid if there are too many, or two of one name
 */
export function multiplied(entries: readonly WrittenEntry[]): (Job | Bridge)[] {
  const multiplying = new Multiplying(entries);
  const jobs: (Job | Bridge)[] = [];
  const names = new Set<string>();
  for (const entry of entries)
    for (const job of multiplying.jobsOf(entry)) {
      if (names.has(job.name)) throw new Invalid(`jobs:${job.name} name is the name of two jobs`);
      names.add(job.name);
      jobs.push(job);
      if (jobs.length > maximumJobs)
        throw new Invalid(`Pipeline size limit exceeded! The number of jobs has to be less than ${maximumJobs}`);
    }
  return jobs;
}
