/** The older conditions of jobs, `only` and `except` (docs/reference/ci_configuration.md#only-and-except). */
import { compiled } from '../expressions/compiling.ts';
import { InvalidExpression } from '../expressions/matching.ts';
import type { Facts, Judge } from './clauses.ts';
import type { Variables } from './expansion.ts';
import type { OnlyExcept } from './types.ts';

const wordOfSource: Readonly<Record<Facts['source'], string>> = {
  push: 'pushes',
  web: 'web',
  trigger: 'triggers',
  schedule: 'schedules',
  api: 'api',
  external: 'external',
  pipeline: 'pipelines',
  parent_pipeline: 'parent_pipelines',
  merge_request_event: 'merge_requests',
};

/** The refs of `only` that names none. */
const usualRefs = ['branches', 'tags'];

/** A word, a name or `/expression/flags`, with `@group/project` after it perhaps. */
function isRefMeant(pattern: string, { source, ref, context }: Facts): boolean {
  const [, expression, flags, project] = /^\/(.+)\/([ismU]*)(?:@(.+))?$/s.exec(pattern) ?? [];
  if (expression !== undefined) {
    if (ref.type === 'merge_request' || (project !== undefined && project !== context.project)) return false;
    try {
      return compiled({ source: flags ? `(?${flags})${expression}` : expression }).test(ref.name);
    } catch (error) {
      if (error instanceof InvalidExpression) return false;
      throw error;
    }
  }
  const at = pattern.indexOf('@');
  const [word, place] = at < 0 ? [pattern, undefined] : [pattern.slice(0, at), pattern.slice(at + 1)];
  if (place !== undefined && place !== context.project) return false;
  if (word === 'tags') return ref.type === 'tag';
  if (word === 'branches') return ref.type === 'branch';
  return word === wordOfSource[source] || (ref.type !== 'merge_request' && word === ref.name);
}

/** For each key that is given, whether it is satisfied. @throws RuleError */
async function answersTo({ refs, variables, changes, kubernetes }: OnlyExcept, judge: Judge, values: Variables) {
  const answers: boolean[] = [];
  if (refs) answers.push(refs.some((ref) => isRefMeant(ref, judge.facts)));
  if (kubernetes) answers.push(judge.facts.has_cluster);
  if (variables) answers.push(variables.some((expression) => judge.isTrue(expression, values)));
  if (changes) answers.push(await judge.hasChanged({ paths: changes }, values));
  return answers;
}

/**
 * Whether a job without rules is there: all keys of `only` must be satisfied, and none of `except`.
 * @param isUsual whether the refs of `only` are branches and tags unless it names others, which they are without rules of the workflow
 * @throws RuleError
 */
export async function isAdmitted(
  { only, except }: { only?: OnlyExcept; except?: OnlyExcept },
  judge: Judge,
  { values, isUsual }: { values: Variables; isUsual: boolean },
): Promise<boolean> {
  const wanted = isUsual ? { ...only, refs: only?.refs ?? usualRefs } : (only ?? {});
  if ((await answersTo(wanted, judge, values)).includes(false)) return false;
  return !except || !(await answersTo(except, judge, values)).includes(true);
}
