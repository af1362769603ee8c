/**
 * Which jobs a pipeline has: `workflow`, `rules`, `only` and `except`, and the needs of jobs that are not there (docs/reference/ci_configuration.md#when-a-job-is-there). The same
 * configuration, variables and facts give the same jobs or the same errors.
 */
import { type Judge, RuleError } from './clauses.ts';
import { type CiVariable, ExpansionError, expand, expanded, type Variables } from './expansion.ts';
import { isAdmitted } from './policies.ts';
import { jobVariables } from './predefined.ts';
import type { AllowFailure, AutoCancel, Bridge, CompileResult, Job, JobWhen, Need, Rule, Variable } from './types.ts';
import { inForce, type Sources } from './variables.ts';

/** The variables around the configuration: those of the rule, the job, the root and the workflow are in it. */
export type GivenSources = Omit<Sources, 'dotenv' | 'rule' | 'job' | 'workflow' | 'root' | 'deployment'>;

/** A job of the pipeline, as its rules decide. */
export interface SelectedJob {
  job: Job | Bridge;
  when: JobWhen;
  /** With `delayed`. */
  start_in_s?: number;
  allow_failure: AllowFailure;
  interruptible: boolean;
  /** Undefined: all jobs of earlier stages. */
  needs?: readonly Need[];
  /** Those that the configuration gives the job: of its rule, its own, of the workflow and of the root. */
  variables: CiVariable[];
  environment_name?: string;
  resource_group?: string;
  /** Of runners; none for a bridge. */
  tags: string[];
}

export interface Selection {
  errors: string[];
  jobs: SelectedJob[];
  /** The name of the pipeline, if it has one. */
  name?: string;
  auto_cancel: AutoCancel;
}

export const filteredText = 'Pipeline filtered out by workflow rules.';
export const noJobsText =
  'Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being added to the pipeline.';
const maximumName = 255;

const ciVariable = ({ key, value, expand: isExpanded }: Variable): CiVariable =>
  isExpanded ? { key, value } : { key, value, raw: true };

const missingNeed = (name: string, need: string) =>
  `'${name}' job needs '${need}' job, but '${need}' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.`;

/** The pipeline as the workflow decides; undefined when there is none. @throws RuleError, ExpansionError */
async function workflowOf({ workflow, variables }: CompileResult, sources: GivenSources, judge: Judge) {
  const root = variables.map(ciVariable);
  const values = expanded(inForce({ ...sources, root }));
  if (!workflow.rules) return { root, own: [], auto_cancel: workflow.auto_cancel, values };
  for (const rule of workflow.rules) {
    if (!(await judge.holds(rule, values, judge.facts.context))) continue;
    if (rule.when === 'never') return undefined;
    const own = rule.variables.map(ciVariable);
    return {
      root,
      own,
      auto_cancel: { ...workflow.auto_cancel, ...rule.auto_cancel },
      values: own.length > 0 ? expanded(inForce({ ...sources, workflow: own, root })) : values,
    };
  }
  return undefined;
}

type Decided = NonNullable<Awaited<ReturnType<typeof workflowOf>>>;

/** The rule that decides on a job; undefined when it is not there. @throws RuleError */
async function ruleFor(
  job: Job | Bridge,
  judge: Judge,
  { values, isUsual }: { values: Variables; isUsual: boolean },
): Promise<Partial<Rule> | undefined> {
  if (!job.rules) return (await isAdmitted(job, judge, { values, isUsual })) ? {} : undefined;
  for (const rule of job.rules)
    if (await judge.holds(rule, values, judge.facts.context)) return rule.when === 'never' ? undefined : rule;
  return undefined;
}

/** The variables of a job before a rule adds to them. */
function sourcesOf(job: Job | Bridge, sources: GivenSources, { root, own }: { root: CiVariable[]; own: CiVariable[] }) {
  const { inherit_variables: inherited } = job;
  const isInherited = ({ key }: CiVariable) => (typeof inherited === 'boolean' ? inherited : inherited.includes(key));
  return {
    ...sources,
    predefined: [...jobVariables(job), ...(sources.predefined ?? [])],
    job: job.variables.map(ciVariable),
    workflow: own.filter(isInherited),
    root: root.filter(isInherited),
  };
}

/** For each job the name of its environment as far as it is known without rules, or null. */
export function environmentNames({ jobs, variables }: CompileResult, sources: GivenSources): (string | null)[] {
  const root = variables.map(ciVariable);
  return jobs.map((job) => {
    const name = job.environment?.name;
    if (name === undefined || !/[$%]/.test(name)) return name ?? null;
    try {
      return expand(name, expanded(inForce(sourcesOf(job, sources, { root, own: [] }))));
    } catch (error) {
      if (error instanceof ExpansionError) return name;
      throw error;
    }
  });
}

/** A job as its rules decide; undefined when it is not there. @throws RuleError, ExpansionError */
async function selected(
  job: Job | Bridge,
  judge: Judge,
  { sources, decided, isUsual }: { sources: GivenSources; decided: Decided; isUsual: boolean },
): Promise<SelectedJob | undefined> {
  const around = sourcesOf(job, sources, decided);
  let values = expanded(inForce(around));
  const rule = await ruleFor(job, judge, { values, isUsual });
  if (!rule) return undefined;
  const ofRule = (rule.variables ?? []).map(ciVariable);
  if (ofRule.length > 0) values = expanded(inForce({ ...around, rule: ofRule }));
  const when = rule.when === undefined || rule.when === 'never' ? job.when : rule.when;
  const start_in_s = when === 'delayed' ? (rule.start_in_s ?? job.start_in_s) : undefined;
  const needs = rule.needs ?? job.needs;
  return {
    job,
    when,
    allow_failure: rule.allow_failure ?? job.allow_failure,
    interruptible: rule.interruptible ?? job.interruptible,
    variables: [...inForce({ rule: ofRule, job: around.job, workflow: around.workflow, root: around.root }).values()],
    ...(start_in_s === undefined ? {} : { start_in_s }),
    ...(needs && { needs }),
    ...(job.environment && { environment_name: expand(job.environment.name, values) }),
    ...(job.resource_group !== undefined && { resource_group: expand(job.resource_group, values) }),
    tags: job.type === 'job' ? job.tags.map((tag) => expand(tag, values)) : [],
  };
}

/** The name of the pipeline, or none. */
function nameOf(name: string | undefined, values: Variables): { name?: string } {
  const text = name === undefined ? '' : expand(name, values).trim().slice(0, maximumName).toWellFormed();
  return text === '' ? {} : { name: text };
}

/**
 * Decides which jobs of a compiled configuration are there, and how.
 * @param configuration without errors
 * @param sources the variables that count before there are jobs
 * @param judge who knows what happened
 */
export async function select(configuration: CompileResult, sources: GivenSources, judge: Judge): Promise<Selection> {
  const selection: Selection = { errors: [], jobs: [], auto_cancel: {} };
  let current: string | undefined;
  try {
    const decided = await workflowOf(configuration, sources, judge);
    if (!decided) return { ...selection, errors: [filteredText] };
    Object.assign(selection, { auto_cancel: decided.auto_cancel }, nameOf(configuration.workflow.name, decided.values));
    const isUsual = !configuration.workflow.rules;
    for (const job of configuration.jobs) {
      current = job.name;
      const found = await selected(job, judge, { sources, decided, isUsual });
      if (found) selection.jobs.push(found);
    }
  } catch (error) {
    if (error instanceof RuleError)
      return {
        ...selection,
        jobs: [],
        errors: [`Failed to parse rule for ${current ?? 'workflow'}: ${error.message}`],
      };
    if (error instanceof ExpansionError)
      return { ...selection, jobs: [], errors: [`${current ?? 'workflow'}: ${error.message}`] };
    throw error;
  }
  const refuse = (error: string) => ({ ...selection, jobs: [], errors: [error] });
  if (selection.jobs.every(({ job }) => job.stage === '.pre' || job.stage === '.post')) return refuse(noJobsText);
  const names = new Set(selection.jobs.map(({ job }) => job.name));
  for (const { job, needs = [] } of selection.jobs)
    for (const need of needs)
      if (need.type === 'job' && !need.optional && !names.has(need.job)) return refuse(missingNeed(job.name, need.job));
  return selection;
}
