/** Whether the conditions of a rule hold (docs/reference/ci_configuration.md#when-a-job-is-there). What happened is told by functions that are given. */
import { isTrue, parseCondition } from './conditions.ts';
import { expand, plainValue, type Variables } from './expansion.ts';
import { globMatcher, isGlob } from './globs.ts';
import type { Changes, Clauses, Exists, FileContext } from './types.ts';

/** Why a pipeline is made. */
export type PipelineSource =
  | 'push'
  | 'web'
  | 'trigger'
  | 'schedule'
  | 'api'
  | 'external'
  | 'pipeline'
  | 'parent_pipeline'
  | 'merge_request_event';

/** What happened, for which there may be a pipeline. The functions are pure in what they answer: the same question has one answer. */
export interface Facts {
  source: PipelineSource;
  /** Of a merge request pipeline, the name of the source branch. */
  ref: { type: 'branch' | 'tag' | 'merge_request'; name: string };
  /** The commit that is built. */
  context: FileContext;
  /** Whether a cluster may give the jobs of the project its credentials. */
  has_cluster: boolean;
  /**
   * The paths that were changed, compared with a ref or with what was there before.
   * @returns `unknown` when nothing was there before or there are too many: then each path counts as changed
   */
  changed(compare_to: string | undefined): Promise<readonly string[] | 'unknown' | 'no_such_ref'>;
  /** The head of a ref of another project, of its default branch without one; undefined if the starter may not read it. */
  commitOf(project: string, ref: string | undefined): Promise<FileContext | undefined>;
  /** All paths of a commit. */
  paths(context: FileContext): Promise<readonly string[]>;
}

/** A rule that cannot be judged; the message is for people. */
export class RuleError extends Error {
  override name = 'RuleError';
}

/** More comparisons of globs with paths are not made: then the files exist. */
const maximumComparisons = 50_000;

/** Finds out about changes and files, and keeps what it found: thousands of jobs ask for the same. */
export class Judge {
  readonly facts: Facts;
  readonly #conditions = new Map<string, ReturnType<typeof parseCondition>>();
  readonly #answers = new Map<string, Promise<boolean>>();
  readonly #paths = new Map<string, Promise<{ list: readonly string[]; set: ReadonlySet<string> }>>();

  constructor(facts: Facts) {
    this.facts = facts;
  }

  /** @param expression whose syntax was checked; another one is false */
  isTrue(expression: string, variables: Variables): boolean {
    if (!this.#conditions.has(expression)) this.#conditions.set(expression, parseCondition(expression));
    const condition = this.#conditions.get(expression);
    const lookUp = (key: string) => {
      const variable = variables.get(key);
      return variable && plainValue(variable);
    };
    return condition !== undefined && isTrue(condition, lookUp);
  }

  /** @throws RuleError */
  hasChanged({ paths, compare_to }: Changes, variables: Variables): Promise<boolean> {
    const ref = compare_to === undefined ? undefined : expand(compare_to, variables);
    const globs = paths.map((path) => expand(path, variables));
    return this.#once(['changes', ref, ...globs], async () => {
      const changed = await this.facts.changed(ref);
      if (changed === 'no_such_ref') throw new RuleError('rules:changes:compare_to is not a valid ref');
      if (changed === 'unknown') return true;
      return globs.map(globMatcher).some((fits) => changed.some(fits));
    });
  }

  /**
   * @param context of the file that asks: its paths are looked for, unless a project is named
   * @throws RuleError
   */
  exists({ paths, project, ref }: Exists, variables: Variables, context: FileContext | undefined): Promise<boolean> {
    const named = project === undefined ? undefined : expand(project, variables);
    const at = ref === undefined ? undefined : expand(ref, variables);
    const globs = paths.map((path) => expand(path, variables).replace(/^\//, ''));
    return this.#once(['exists', named, at, context?.project, context?.sha, ...globs], async () => {
      const commit = named === undefined ? context : await this.facts.commitOf(named, at);
      if (!commit && named !== undefined)
        throw new RuleError(`rules:exists:project \`${named}\` or its ref is not found or access denied`);
      if (!commit) return false;
      const { list, set } = await this.#pathsOf(commit);
      if (globs.some((glob) => set.has(glob))) return true;
      const open = globs.filter(isGlob);
      if (open.length * list.length > maximumComparisons) return true;
      return open.map(globMatcher).some((fits) => list.some(fits));
    });
  }

  /**
   * Whether all clauses hold; without any, they do.
   * @throws RuleError
   */
  async holds({ if: expression, changes, exists }: Clauses, variables: Variables, context: FileContext | undefined) {
    if (expression !== undefined && !this.isTrue(expression, variables)) return false;
    if (changes && !(await this.hasChanged(changes, variables))) return false;
    return !exists || this.exists(exists, variables, context);
  }

  #once(question: readonly (string | undefined)[], find: () => Promise<boolean>): Promise<boolean> {
    const key = JSON.stringify(question.map((part) => part ?? null));
    const answer = this.#answers.get(key) ?? find();
    this.#answers.set(key, answer);
    return answer;
  }

  #pathsOf(context: FileContext) {
    const key = `${context.project} ${context.sha}`;
    const found = this.#paths.get(key) ?? this.facts.paths(context).then((list) => ({ list, set: new Set(list) }));
    this.#paths.set(key, found);
    return found;
  }
}
