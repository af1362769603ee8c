/** The shapes of `rules`, `only`, `except` and `workflow`, and of the conditions in them. */
import { compiled } from '../../expressions/compiling.ts';
import { InvalidExpression } from '../../expressions/matching.ts';
import { parseCondition } from '../conditions.ts';
import { week_s } from '../durations.ts';
import type { AutoCancel, Changes, Exists, OnlyExcept, RuleWhen, Workflow, WorkflowRule } from '../types.ts';
import { isList, isMapping, type Mapping, type Value } from '../values.ts';
import { needs } from './needs.ts';
import {
  attribute,
  boolean,
  entry,
  flattened,
  type Members,
  mapped,
  mappingOr,
  oneOf,
  type Parsed,
  type Place,
  record,
  type Shape,
  secondsUpTo,
  text,
  texts,
} from './shape.ts';
import { jobVariables } from './variables.ts';

const maximumGlobs = 50;
const maximumExpression_chars = 1_000;

/** Whether a text is an expression in RE2 syntax that is not too long. */
export function isExpression(source: string): boolean {
  if (source.length > maximumExpression_chars) return false;
  try {
    compiled({ source });
    return true;
  } catch (error) {
    if (error instanceof InvalidExpression) return false;
    throw error;
  }
}

const condition: Shape<string> = (value, at) =>
  typeof value === 'string' && parseCondition(value) ? value : at.fault('invalid expression syntax');

const globs: Shape<readonly string[]> = mapped(texts, (read, at) =>
  read.length > maximumGlobs ? at.fault(`has too many entries (maximum ${maximumGlobs})`) : read,
);

const globList = mapped(globs, (paths) => ({ paths }));
const globMembers = { paths: attribute(globs) };

const changes: Shape<Changes> = mapped(
  mappingOr(record({ ...globMembers, compare_to: attribute(text) }, ['paths']), globList),
  ({ paths = [], ...others }) => ({ paths, ...others }),
);
const exists: Shape<Exists> = mapped(
  mappingOr(record({ ...globMembers, project: attribute(text), ref: attribute(text) }, ['paths']), globList),
  ({ paths = [], ...others }) => ({ paths, ...others }),
);

const clauses = { if: attribute(condition), changes: entry(changes), exists: entry(exists) };

const whenOf =
  <W extends RuleWhen>(...allowed: W[]): Shape<W> =>
  (value, at) =>
    allowed.find((word) => word === value) ?? at.fault(`unknown value: ${String(value)}`);

/** A list of rules, in which other lists are flattened. */
const rulesOf =
  <M extends Members>(members: M, check?: (rule: Mapping, at: Place) => void): Shape<Parsed<M>[]> =>
  (value, at) => {
    const items = flattened(value);
    if (!items?.every(isMapping)) return at.fault('should be an array containing hashes and arrays of hashes');
    if (items.length === 0) return at.fault("can't be blank");
    const [shape, place] = [record(members), at.entry('rule')];
    const rules: Parsed<M>[] = [];
    for (const item of items) {
      check?.(item, place);
      const rule = shape(item, place);
      if (rule) rules.push(rule);
    }
    return rules;
  };

/** Reports a `start_in` that is missing, or belongs to nothing. */
export function checkStart(entry: Mapping, at: Place): void {
  const place = at.attribute('start_in');
  const isGiven = (entry.get('start_in') ?? null) !== null;
  const isDelayed = entry.get('when') === 'delayed';
  if (isDelayed && !isGiven) place.fault('should be a duration');
  if (!isDelayed && isGiven) place.fault('must be blank');
}

const jobRule = {
  ...clauses,
  when: attribute(whenOf('on_success', 'on_failure', 'always', 'never', 'manual', 'delayed')),
  start_in: attribute(secondsUpTo(week_s)),
  allow_failure: attribute(boolean),
  variables: entry(jobVariables),
  needs: entry(needs),
  interruptible: attribute(boolean),
};

/** A rule of a job; the names in its needs are those of the file. */
export type WrittenRule = Parsed<typeof jobRule>;
export const jobRules: Shape<WrittenRule[]> = rulesOf(jobRule, checkStart);

/** Whether a rule says only `when`, so that it lets a job into pipelines of every kind. */
export const isOpen = ({ when, ...others }: WrittenRule): boolean =>
  when !== undefined && when !== 'never' && Object.keys(others).length === 0;

/** The rule of an include, which has no other effect than that it decides. */
const includeRule = { ...clauses, when: attribute(whenOf('always', 'never')) };
export const includeRules = rulesOf(includeRule);

const autoCancelWords = {
  on_new_commit: ['conservative', 'interruptible', 'none', 'disabled'],
  on_job_failure: ['none', 'all'],
} as const;
const oneWord = <W extends string>(words: readonly W[]) =>
  attribute(oneOf(words, `must be one of: ${words.join(', ')}`));

const autoCancel: Shape<AutoCancel> = record({
  on_new_commit: oneWord(autoCancelWords.on_new_commit),
  on_job_failure: oneWord(autoCancelWords.on_job_failure),
});

const workflowRules: Shape<WorkflowRule[]> = mapped(
  rulesOf({ ...includeRule, variables: entry(jobVariables), auto_cancel: entry(autoCancel) }),
  (rules) => rules.map(({ when = 'always', variables = [], ...others }) => ({ ...others, when, variables })),
);

export const workflow: Shape<Workflow> = mapped(
  record({ rules: entry(workflowRules), name: attribute(text), auto_cancel: entry(autoCancel) }),
  ({ auto_cancel = {}, ...others }) => ({ ...others, auto_cancel }),
);

/** `/expression/`, with flags and the path of a project after it. */
const refExpression = /^\/(.+)\/[a-z]*(?:@.+)?$/s;

function isRef(item: Value): item is string {
  if (typeof item !== 'string') return false;
  const source = refExpression.exec(item)?.[1];
  return source === undefined ? !item.startsWith('/') : isExpression(source);
}

const refs: Shape<readonly string[]> = (value, at) =>
  isList(value) && value.every(isRef)
    ? value
    : at.fault('should be an array of strings or regular expressions using re2 syntax');

const conditions: Shape<readonly string[]> = mapped(texts, (read, at) =>
  read.every(parseCondition) ? read : at.fault('invalid expression syntax'),
);

/** `only` or `except`: a list is one of refs. */
export const policy: Shape<OnlyExcept> = mappingOr(
  record({
    refs: attribute(refs),
    variables: attribute(conditions),
    changes: attribute(globs),
    kubernetes: attribute(oneOf(['active'], 'unknown value')),
  }),
  mapped(refs, (read) => ({ refs: read })),
);
