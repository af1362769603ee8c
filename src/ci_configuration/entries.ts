/** The entries of a configuration: the global keywords, and jobs with what they inherit. All that is wrong with their shapes is reported together. */
import {
  type BridgeKeywords,
  bridgeKeywords,
  type InheritableKeywords,
  inheritable,
  type JobKeywords,
  jobKeywords,
} from './shapes/keywords.ts';
import type { Parallel, WrittenNeed } from './shapes/needs.ts';
import { checkStart, isOpen, type WrittenRule, workflow } from './shapes/rules.ts';
import { type Findings, Place, parsed, record, reportUnknown } from './shapes/shape.ts';
import { rootVariables } from './shapes/variables.ts';
import type { Bridge, Entry, Job, OnlyExcept, Variable, Workflow } from './types.ts';
import { isMapping, type Mapping, type Value } from './values.ts';

/** A job or bridge before it is multiplied: the names in its needs are those of the file. */
export type Written<E extends Entry> = Omit<E, 'name' | 'node' | 'needs' | 'rules'> & {
  needs?: readonly WrittenNeed[];
  rules?: readonly WrittenRule[];
  parallel?: Parallel;
};
export type WrittenEntry = Written<Job> | Written<Bridge>;

export interface Entries {
  jobs: WrittenEntry[];
  workflow: Workflow;
  variables: readonly Variable[];
  stages: string[];
}

const [firstStage, lastStage] = ['.pre', '.post'];
const usualStages = ['build', 'test', 'deploy'];
const usualStage = 'test';
const usualOnly: OnlyExcept = { refs: ['branches', 'tags'] };
const maximumName_chars = 255;

/** An older form of members of `default`. */
const rootDefaults = ['image', 'services', 'before_script', 'after_script', 'cache'];
const globals = new Set([...rootDefaults, 'default', 'stages', 'variables', 'workflow', 'include']);
/** Names that mean something in other places. */
const reserved = new Set(['types', 'pages:deploy', 'true', 'false', 'nil']);

const readMore = 'docs/reference/ci_configuration.md#rules';

const isGiven = (mapping: Mapping, key: string) => (mapping.get(key) ?? null) !== null;

/** Reads the entries of one configuration. */
class Reading {
  readonly #root: Mapping;
  readonly #at: Place;
  readonly #findings: Findings;

  constructor(root: Mapping, findings: Findings) {
    this.#root = root;
    this.#findings = findings;
    this.#at = new Place(findings, '');
  }

  /** A global keyword, or what it is without being given. */
  #global<T>(key: string, read: (value: Value, at: Place) => T | undefined, otherwise: T): T {
    const value = this.#root.get(key) ?? null;
    return value === null ? otherwise : (read(value, this.#at.entry(key)) ?? otherwise);
  }

  entries(odd_keys: ReadonlySet<string>): Entries {
    const defaults = this.#defaults();
    const found = this.#global<Workflow>('workflow', workflow, { auto_cancel: {} });
    return {
      stages: this.#stages(),
      variables: this.#global('variables', rootVariables, []),
      workflow: found,
      jobs: this.#jobs(odd_keys, defaults, found.rules !== undefined),
    };
  }

  #defaults(): InheritableKeywords {
    const inDefault = this.#global<InheritableKeywords>('default', record(inheritable), {});
    const given = this.#root.get('default');
    const older = parsed(new Map([...this.#root].filter(([key]) => rootDefaults.includes(key))), inheritable, this.#at);
    for (const key of Object.keys(older))
      if (isMapping(given) && isGiven(given, key))
        new Place(this.#findings, key, '').fault('is defined in top-level and `default:` entry');
    return { ...older, ...inDefault };
  }

  #stages(): string[] {
    const stages = this.#global(
      'stages',
      (value, at) => {
        if (!Array.isArray(value) || !value.every((stage) => typeof stage === 'string'))
          return at.fault('should be an array of strings');
        return value.length === 0 ? at.fault("can't be blank") : (value as string[]);
      },
      usualStages,
    );
    return [...new Set([firstStage!, ...stages.filter((stage) => stage !== lastStage), lastStage!])];
  }

  #jobs(odd_keys: ReadonlySet<string>, defaults: InheritableKeywords, hasWorkflowRules: boolean): WrittenEntry[] {
    const visible = [...this.#root].filter(([name]) => !globals.has(name) && !name.startsWith('.'));
    if (visible.length === 0) this.#at.entry('jobs').fault('should contain at least one visible job');
    return visible.flatMap(([name, value]) => {
      const at = this.#at.entry('jobs').entry(name);
      if (!this.#isNameGood(name, odd_keys, at)) return [];
      const job = isMapping(value) ? readJob(name, value, { at, defaults, hasWorkflowRules }) : undefined;
      // Blanks of the name are written as one word, since no colon parts it from the rest.
      if (job === undefined)
        new Place(this.#findings, `jobs ${name.replaceAll(/\s/g, '_')}`).fault(
          'should implement the script:, run:, or trigger: keyword',
        );
      return job ?? [];
    });
  }

  #isNameGood(name: string, odd_keys: ReadonlySet<string>, at: Place): boolean {
    const place = at.attribute('name');
    const before = this.#findings.errors.length;
    if (odd_keys.has(name)) place.fault('should be a symbol');
    else if (name.trim() === '') this.#at.entry('jobs').entry('job').attribute('name').fault("can't be blank");
    else if (name.length > maximumName_chars) place.fault(`is too long (maximum is ${maximumName_chars} characters)`);
    else if (reserved.has(name)) place.fault('is reserved');
    return this.#findings.errors.length === before;
  }
}

interface Around {
  at: Place;
  defaults: InheritableKeywords;
  hasWorkflowRules: boolean;
}

/** Whether something is a bridge that takes the status of a pipeline that is there already. */
function takesStatus(given: Mapping): boolean {
  const needs = given.get('needs');
  return isMapping(needs) && isGiven(needs, 'pipeline') && !isGiven(needs, 'job');
}

/** @returns undefined for something that is no job, and nothing in a list for one with two purposes */
function readJob(name: string, given: Mapping, around: Around): WrittenEntry | [] | undefined {
  const [hasScript, hasTrigger] = [isGiven(given, 'script'), isGiven(given, 'trigger')];
  if (hasScript && hasTrigger) {
    around.at.fault('these keys cannot be used together: script, trigger');
    return [];
  }
  if (hasScript) return jobOf(name, given, around);
  return hasTrigger || takesStatus(given) ? bridgeOf(name, given, around) : undefined;
}

function checkTogether(given: Mapping, at: Place): void {
  const older = isGiven(given, 'rules') ? ['only', 'except'].filter((key) => isGiven(given, key)) : [];
  if (older.length > 0) at.fault(`key may not be used with \`rules\`: ${older.join(', ')}`);
}

function warnOfOpenRules(rules: readonly WrittenRule[] | undefined, { at, hasWorkflowRules }: Around): void {
  const last = rules?.at(-1);
  if (last && isOpen(last) && !hasWorkflowRules)
    at.bare.warn(
      `may allow multiple pipelines to run for a single action due to \`rules:when\` clause with no \`workflow:rules\` - read more: ${readMore}`,
    );
}

/** What jobs and bridges have in common. */
function entryOf(
  name: string,
  read: JobKeywords | BridgeKeywords,
  around: Around,
): Omit<Written<Entry>, 'interruptible'> {
  const { stage = usualStage, when = 'on_success', rules, only, except, inherit } = read;
  warnOfOpenRules(rules, around);
  const isPolicyUsed = !rules && !around.hasWorkflowRules;
  return {
    written_name: name,
    stage,
    when,
    allow_failure: read.allow_failure ?? (when === 'manual' && !rules),
    rules,
    only: only || isPolicyUsed ? { ...(isPolicyUsed && usualOnly), ...only } : undefined,
    except,
    needs: read.needs,
    parallel: read.parallel,
    variables: read.variables ?? [],
    inherit_variables: inherit?.variables ?? true,
    environment: read.environment,
    resource_group: read.resource_group,
  };
}

function inheritedFrom(defaults: InheritableKeywords, inherit: JobKeywords['inherit']): InheritableKeywords {
  const which = inherit?.default ?? true;
  if (which === true) return defaults;
  if (which === false) return {};
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => which.includes(key)));
}

function checkNeeds(needs: readonly WrittenNeed[] = [], unfit: readonly string[], as: string, at: Place): void {
  if (needs.some(({ type }) => unfit.includes(type))) at.entry('needs').fault(`uses invalid types: ${as}`);
}

function jobOf(name: string, given: Mapping, around: Around): Written<Job> {
  const { at } = around;
  reportUnknown(given, (key) => Object.hasOwn(jobKeywords, key), at);
  checkTogether(given, at);
  checkStart(given, at);
  const own = parsed(given, jobKeywords, at);
  const read = { ...inheritedFrom(around.defaults, own.inherit), ...own };
  const { needs, dependencies } = own;
  checkNeeds(needs, ['bridge'], 'bridge', at);
  const unneeded = needs
    ? dependencies?.filter((each) => !needs.some((need) => need.type === 'job' && need.job === each))
    : [];
  if (unneeded && unneeded.length > 0)
    at.attribute('dependencies').fault(`the ${unneeded.join(', ')} should be part of needs`);
  return {
    type: 'job',
    ...entryOf(name, own, around),
    start_in_s: own.start_in,
    interruptible: read.interruptible ?? false,
    before_script: read.before_script ?? [],
    script: own.script ?? [],
    after_script: read.after_script ?? [],
    pre_get_sources_script: read.hooks ?? [],
    image: read.image,
    services: read.services ?? [],
    tags: read.tags ?? [],
    dependencies,
    artifacts: read.artifacts,
    caches: read.cache ?? [],
    retry: read.retry,
    timeout_s: read.timeout,
    release: own.release,
    coverage: own.coverage,
    id_tokens: read.id_tokens ?? [],
  };
}

function bridgeOf(name: string, given: Mapping, around: Around): Written<Bridge> {
  const { at, defaults } = around;
  reportUnknown(given, (key) => Object.hasOwn(bridgeKeywords, key), at);
  checkTogether(given, at);
  const own = parsed(given, bridgeKeywords, at);
  checkNeeds(own.needs, ['pipeline', 'project'], 'cross_dependency', at);
  if (own.parallel && 'total' in own.parallel) at.entry('parallel').bare.fault('should be a hash');
  const upstream = own.needs?.find((need) => need.type === 'bridge');
  const needs = own.needs?.filter((need) => need.type !== 'bridge');
  return {
    type: 'bridge',
    ...entryOf(name, own, around),
    // A bridge that only takes a status waits for the jobs of earlier stages.
    needs: upstream && needs?.length === 0 ? undefined : needs,
    interruptible: own.interruptible ?? inheritedFrom(defaults, own.inherit).interruptible ?? false,
    upstream: upstream?.pipeline,
    ...(own.trigger ?? { forwards_yaml_variables: true, forwards_pipeline_variables: false, inputs: {} }),
  };
}

/**
 * Reads the entries of a configuration that needs nothing else any more.
 * @param odd_keys names that are no texts
 * @param findings gets what is wrong, in the order of the file
 */
export const readEntries = (root: Mapping, odd_keys: ReadonlySet<string>, findings: Findings): Entries =>
  new Reading(root, findings).entries(odd_keys);
