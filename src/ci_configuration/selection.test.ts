import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Facts, Judge } from './clauses.ts';
import { withoutJobs } from './results.ts';
import { type GivenSources, select } from './selection.ts';
import type { Clauses, CompileResult, Job, OnlyExcept, Rule, Variable, WorkflowRule } from './types.ts';

const variablesOf = (values: Record<string, string>): Variable[] =>
  Object.entries(values).map(([key, value]) => ({ key, value, expand: true }));
const valuesOf = (variables: readonly { key: string; value: string }[]) =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]));

const rule = (more: Partial<Rule>): Rule => ({ variables: [], ...more });
const job = (name: string, more: Partial<Job> = {}): Job => ({
  type: 'job',
  name,
  written_name: name,
  stage: 'test',
  when: 'on_success',
  allow_failure: false,
  variables: [],
  inherit_variables: true,
  interruptible: false,
  before_script: [],
  script: ['true'],
  after_script: [],
  pre_get_sources_script: [],
  services: [],
  tags: [],
  caches: [],
  id_tokens: [],
  ...more,
});
const configuration = (jobs: Job[], more: Partial<CompileResult> = {}): CompileResult => ({
  ...withoutJobs([]),
  jobs,
  ...more,
});

const paths = ['Dockerfile', 'src/main.ts', 'src/lib/a.ts', '.hidden'];
const changed = ['src/main.ts', 'docs/readme.md'];
const own = { project: 'g/p', sha: 'a'.repeat(40) };
const facts = (more: Partial<Facts> = {}): Facts => ({
  source: 'push',
  ref: { type: 'branch', name: 'main' },
  context: own,
  has_cluster: false,
  changed: async (ref) => (ref === undefined ? changed : ref === 'other' ? ['Dockerfile'] : 'no_such_ref'),
  commitOf: async (project) => (project === 'g/other' ? { project, sha: 'b'.repeat(40) } : undefined),
  paths: async ({ project }) => (project === 'g/p' ? paths : ['elsewhere']),
  ...more,
});

const sources: GivenSources = {
  pipeline: [{ key: 'GIVEN', value: 'yes' }],
  project: [{ key: 'OF_PROJECT', value: 'p' }],
  predefined: [
    { key: 'CI_COMMIT_BRANCH', value: 'main', raw: true },
    { key: 'CI_COMMIT_MESSAGE', value: '$OF_PROJECT', raw: true },
  ],
};
const selectIn = (given: CompileResult, more: Partial<Facts> = {}) => select(given, sources, new Judge(facts(more)));

/** Which of the jobs are there, or the error. */
async function thereOf(given: CompileResult, more: Partial<Facts> = {}): Promise<string> {
  const { errors, jobs } = await selectIn(given, more);
  return errors[0] ?? jobs.map((each) => each.job.name).join(' ');
}

/** Whether a job with these conditions is there, beside one that always is. */
const isThere = async (conditions: Partial<Job>, more: Partial<Facts> = {}, around: Partial<CompileResult> = {}) =>
  (await thereOf(configuration([job('usual', { rules: [rule({})] }), job('asked', conditions)], around), more)) ===
  'usual asked';

test('a rule matches when all its clauses do', async () => {
  const table: [Clauses, boolean, Partial<Facts>?][] = [
    [{}, true],
    [{ if: '$CI_COMMIT_BRANCH == "main"' }, true],
    [{ if: '$CI_COMMIT_BRANCH == "other"' }, false],
    [{ if: '$GIVEN && $OF_PROJECT' }, true],
    [{ if: '$CI_COMMIT_MESSAGE == "$OF_PROJECT"' }, true],
    [{ if: '$CI_JOB_NAME == "asked" && $CI_JOB_STAGE == "test"' }, true],
    [{ if: 'no expression' }, false],
    [{ changes: { paths: ['src/**/*'] } }, true],
    [{ changes: { paths: ['src/lib/*'] } }, false],
    [{ changes: { paths: ['$CI_COMMIT_BRANCH.md', 'docs/*.md'] } }, true],
    [{ changes: { paths: ['src/lib/*'] } }, true, { changed: async () => 'unknown' }],
    [{ changes: { paths: ['Dockerfile'], compare_to: 'other' } }, true],
    [{ changes: { paths: ['docs/*'], compare_to: 'other' } }, false],
    [{ exists: { paths: ['Dockerfile'] } }, true],
    [{ exists: { paths: ['dockerfile'] } }, false],
    [{ exists: { paths: ['none', '**/*.ts'] } }, true],
    [{ exists: { paths: ['.h*'] } }, true],
    [{ exists: { paths: ['/src/main.ts'] } }, true],
    [{ exists: { paths: ['elsewhere'], project: 'g/other' } }, true],
    [{ exists: { paths: ['Dockerfile'], project: 'g/other', ref: 'main' } }, false],
    [{ if: '$GIVEN', exists: { paths: ['Dockerfile'] }, changes: { paths: ['docs/*'] } }, true],
    [{ if: '$NONE', exists: { paths: ['Dockerfile'] } }, false],
    [{ if: '$GIVEN', exists: { paths: ['none'] } }, false],
  ];
  for (const [clauses, expected, more] of table)
    assert.equal(await isThere({ rules: [rule(clauses)] }, more), expected, JSON.stringify(clauses));
});

test('files that would take too many comparisons exist', async () => {
  const many = Array.from({ length: 5_001 }, (_, index) => `file ${index}`);
  const globs = Array.from({ length: 10 }, (_, index) => `none ${index}*`);
  const more = { paths: async () => many };
  assert.equal(await isThere({ rules: [rule({ exists: { paths: globs } })] }, more), true);
  assert.equal(await isThere({ rules: [rule({ exists: { paths: globs.slice(1) } })] }, more), false);
});

test('the first rule that matches decides on when, failures, variables, needs and interruption', async () => {
  const rules = [
    rule({ if: '$NONE', when: 'always' }),
    rule({ if: '$GIVEN', when: 'manual', variables: variablesOf({ A: 'rule' }), interruptible: true, needs: [] }),
    rule({ when: 'never' }),
  ];
  const before = { when: 'on_failure', allow_failure: true, variables: variablesOf({ A: 'job', B: 'job' }) } as const;
  const { jobs } = await selectIn(
    configuration([job('a', { ...before, rules })], { variables: variablesOf({ B: 'root', C: 'root' }) }),
  );
  const [{ job: _job, variables, ...decided } = assert.fail('it is there')] = jobs;
  assert.deepEqual(decided, { when: 'manual', allow_failure: true, interruptible: true, needs: [], tags: [] });
  assert.deepEqual(valuesOf(variables), { A: 'rule', B: 'job', C: 'root' });
  assert.equal(await isThere({ rules: rules.slice(0, 1) }), false);
  assert.equal(await isThere({ rules: [rule({ when: 'never' }), rule({})] }), false);
  const [late] = (
    await selectIn(
      configuration([
        job('late', {
          when: 'delayed',
          start_in_s: 60,
          rules: [rule({ if: '$NONE' }), rule({ allow_failure: false })],
        }),
      ]),
    )
  ).jobs;
  assert.deepEqual([late!.when, late!.start_in_s, late!.allow_failure], ['delayed', 60, false]);
});

test('a job inherits the variables that it says', async () => {
  const variables = variablesOf({ A: 'root', B: 'root' });
  const given = (inherit_variables: Job['inherit_variables']) =>
    configuration([job('a', { inherit_variables, rules: [rule({})] })], { variables });
  const inherited = async (which: Job['inherit_variables']) =>
    valuesOf((await selectIn(given(which))).jobs[0]!.variables);
  assert.deepEqual(await inherited(true), { A: 'root', B: 'root' });
  assert.deepEqual(await inherited(false), {});
  assert.deepEqual(await inherited(['B']), { B: 'root' });
});

test('only and except decide as they did, and without either there are branches and tags', async () => {
  const mergeRequest = { source: 'merge_request_event', ref: { type: 'merge_request', name: 'main' } } as const;
  const tag = { ref: { type: 'tag', name: 'v1' } } as const;
  const table: [{ only?: OnlyExcept; except?: OnlyExcept }, boolean, Partial<Facts>?][] = [
    [{}, true],
    [{}, true, tag],
    [{}, false, mergeRequest],
    [{ only: { refs: ['merge_requests'] } }, true, mergeRequest],
    [{ only: { refs: ['main', '/./'] } }, false, mergeRequest],
    [{ only: { refs: ['main'] } }, true],
    [{ only: { refs: ['other'] } }, false],
    [{ only: { refs: ['branches'] } }, false, tag],
    [{ only: { refs: ['tags'] } }, true, tag],
    [{ only: { refs: ['/^MA/i'] } }, true],
    [{ only: { refs: ['/^MA/'] } }, false],
    [{ only: { refs: ['/^main$/@g/p'] } }, true],
    [{ only: { refs: ['/^main$/@g/other'] } }, false],
    [{ only: { refs: ['main@g/p'] } }, true],
    [{ only: { refs: ['branches@g/other'] } }, false],
    [{ only: { refs: ['pushes'] } }, true],
    [{ only: { refs: ['schedules'] } }, true, { source: 'schedule' }],
    [{ only: { refs: ['triggers', 'api'] } }, false, { source: 'web' }],
    [{ only: { variables: ['$NONE', '$GIVEN'] } }, true],
    [{ only: { variables: ['$NONE'] } }, false],
    [{ only: { variables: ['$GIVEN'] } }, false, mergeRequest],
    [{ only: { changes: ['docs/*'] } }, true],
    [{ only: { changes: ['lib/*'] } }, false],
    [{ only: { refs: ['main'], changes: ['lib/*'] } }, false],
    [{ only: { kubernetes: 'active' } }, false],
    [{ only: { kubernetes: 'active' } }, true, { has_cluster: true }],
    [{ except: { refs: ['main'] } }, false],
    [{ except: { refs: ['tags'] } }, true],
    [{ except: { refs: ['tags'], variables: ['$GIVEN'] } }, false],
    [{ only: { refs: ['branches'] }, except: { changes: ['docs/*'] } }, false],
  ];
  for (const [conditions, expected, more] of table)
    assert.equal(await isThere(conditions, more), expected, JSON.stringify([conditions, more]));
  // With rules of the workflow, nothing is usual.
  const workflow = { workflow: { rules: [{ when: 'always', variables: [] } as const], auto_cancel: {} } };
  assert.equal(await isThere({}, mergeRequest, workflow), true);
});

test('the workflow decides whether there is a pipeline, and what it is called', async () => {
  const pipeline = (rules: WorkflowRule[], more: object = {}) =>
    configuration([job('a', { rules: [rule({ if: '$KIND != "none"' })] })], {
      variables: variablesOf({ KIND: 'root' }),
      workflow: { rules, auto_cancel: { on_new_commit: 'none', on_job_failure: 'all' }, ...more },
    });
  const always = (clauses: Clauses, kind = 'rule'): WorkflowRule => ({
    ...clauses,
    when: 'always',
    variables: variablesOf({ KIND: kind }),
    auto_cancel: { on_new_commit: 'interruptible' },
  });
  const filtered = 'Pipeline filtered out by workflow rules.';
  assert.equal(await thereOf(pipeline([])), filtered);
  assert.equal(await thereOf(pipeline([always({ if: '$NONE' })])), filtered);
  assert.equal(await thereOf(pipeline([{ when: 'never', variables: [] }, always({})])), filtered);
  const { name, auto_cancel, jobs } = await selectIn(
    pipeline([always({})], { name: '$KIND of $CI_COMMIT_BRANCH $NONE' }),
  );
  assert.deepEqual(
    { name, auto_cancel },
    { name: 'rule of main', auto_cancel: { on_new_commit: 'interruptible', on_job_failure: 'all' } },
  );
  assert.deepEqual(valuesOf(jobs[0]!.variables), { KIND: 'rule' });
  assert.equal((await selectIn(pipeline([always({})], { name: 'x'.repeat(300) }))).name?.length, 255);
  assert.equal((await selectIn(pipeline([always({})], { name: '$NONE' }))).name, undefined);
  assert.match(await thereOf(pipeline([always({}, 'none')])), /^Pipeline will not run for the selected trigger\./);
});

test('what cannot be decided is an error with the place', async () => {
  const rules = [rule({ changes: { paths: ['a'], compare_to: 'gone' } })];
  assert.equal(
    await thereOf(configuration([job('a', { rules })])),
    'Failed to parse rule for a: rules:changes:compare_to is not a valid ref',
  );
  const elsewhere = [rule({ exists: { paths: ['a'], project: 'g/hidden' } })];
  assert.equal(
    await thereOf(configuration([job('a', { rules: elsewhere })])),
    'Failed to parse rule for a: rules:exists:project `g/hidden` or its ref is not found or access denied',
  );
  assert.equal(
    await thereOf(configuration([job('a', { variables: variablesOf({ A: '$B', B: '$A' }) })])),
    'a: circular variable reference detected: ["A", "B"]',
  );
});

test('a need that is not there is an error unless it is optional', async () => {
  const need = (name: string, optional: boolean) => ({ type: 'job', job: name, artifacts: true, optional }) as const;
  const given = (optional: boolean) =>
    configuration([job('a', { rules: [rule({ if: '$NONE' })] }), job('b', { needs: [need('a', optional)] })]);
  assert.equal(
    await thereOf(given(false)),
    "'b' job needs 'a' job, but 'a' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.",
  );
  assert.equal(await thereOf(given(true)), 'b');
});

test('there is no pipeline of jobs in .pre and .post alone', async () => {
  const outer = [job('a', { stage: '.pre' }), job('b', { stage: '.post' })];
  assert.match(await thereOf(configuration(outer)), /prevented any jobs from being added/);
  assert.equal(await thereOf(configuration([...outer, job('c')])), 'a b c');
});

test('names of environments are expanded, and thousands of jobs ask once for the same', async () => {
  let asked = 0;
  const jobs = Array.from({ length: 2_000 }, (_, index) =>
    job(`job ${index}`, {
      environment: { name: 'review/$CI_COMMIT_BRANCH', action: 'start' },
      rules: [rule({ exists: { paths: ['Dockerfile'] }, changes: { paths: ['docs/*'] } })],
    }),
  );
  const selection = await selectIn(configuration(jobs), {
    changed: async () => {
      asked++;
      return changed;
    },
    paths: async () => {
      asked++;
      return paths;
    },
  });
  assert.equal(selection.jobs.length, 2_000);
  assert.equal(selection.jobs[7]!.environment_name, 'review/main');
  assert.equal(asked, 2);
});
