/** What lint answers (docs/reference/ci_configuration.md#lint). */
import { type Static, Type } from 'typebox';
import type { Bridge, Compiled, Job, SelectedJob } from '../../../ci_configuration/index.ts';
import { nullable, resource } from '../../../http/index.ts';

const Texts = () => Type.Array(Type.String());
const Policy = () =>
  nullable(
    Type.Object(
      {
        refs: Type.Optional(Texts()),
        variables: Type.Optional(Texts()),
        changes: Type.Optional(Texts()),
        kubernetes: Type.Optional(Type.String()),
      },
      { description: 'Null in a simulation, which has decided already' },
    ),
  );

const LintJob = Type.Object({
  name: Type.String(),
  stage: Type.String(),
  before_script: Texts(),
  script: Texts(),
  after_script: Texts(),
  tag_list: Texts(),
  only: Policy(),
  except: Policy(),
  environment: nullable(Type.String({ description: 'Its name, with variables in it' })),
  when: Type.String(),
  allow_failure: Type.Boolean(),
  needs: nullable(
    Type.Array(Type.Object({ name: Type.String(), artifacts: Type.Boolean(), optional: Type.Boolean() })),
  ),
});

export const LintResult = resource('CiLintResult', {
  valid: Type.Boolean(),
  errors: Texts(),
  warnings: Texts(),
  merged_yaml: nullable(
    Type.String({ description: 'The configuration with all that it includes; null if it was not parsed' }),
  ),
  includes: Type.Array(
    Type.Object({
      type: Type.String(),
      location: Type.String(),
      blob: nullable(Type.String()),
      raw: nullable(Type.String()),
      extra: Type.Record(Type.String(), Type.String()),
      context_project: nullable(Type.String()),
      context_sha: nullable(Type.String()),
    }),
  ),
  jobs: nullable(Type.Array(LintJob, { description: 'With `include_jobs`; empty if the configuration is not valid' })),
});

interface Decided {
  when: string;
  allow_failure: Job['allow_failure'];
  needs?: SelectedJob['needs'];
  environment: string | null;
  /** Whether the conditions were judged. */
  is_judged: boolean;
}

function presentJob(job: Job | Bridge, { when, allow_failure, needs, environment, is_judged }: Decided) {
  const scripts = job.type === 'job' ? job : { before_script: [], script: [], after_script: [], tags: [] };
  const policy = ({ refs, variables, changes, kubernetes }: NonNullable<Job['only']>) => ({
    ...(refs && { refs: [...refs] }),
    ...(variables && { variables: [...variables] }),
    ...(changes && { changes: [...changes] }),
    ...(kubernetes && { kubernetes }),
  });
  return {
    name: job.name,
    stage: job.stage,
    before_script: [...scripts.before_script],
    script: [...scripts.script],
    after_script: [...scripts.after_script],
    tag_list: [...scripts.tags],
    only: job.only && !is_judged ? policy(job.only) : null,
    except: job.except && !is_judged ? policy(job.except) : null,
    environment,
    when,
    // With exit codes, most failures count.
    allow_failure: allow_failure === true,
    needs:
      needs?.map((need) => ({
        name: need.job,
        artifacts: need.artifacts,
        optional: need.type === 'job' && need.optional,
      })) ?? null,
  };
}

/** @param withJobs whether the jobs are asked for */
export function presentLint(
  { result, environment_names, selection }: Compiled,
  withJobs: boolean,
): Static<typeof LintResult> {
  const errors = [...result.errors, ...(selection?.errors ?? [])];
  const jobs = selection
    ? selection.jobs.map((each) =>
        presentJob(each.job, { ...each, environment: each.environment_name ?? null, is_judged: true }),
      )
    : result.jobs.map((job, index) =>
        presentJob(job, { ...job, environment: environment_names[index] ?? null, is_judged: false }),
      );
  return {
    valid: errors.length === 0,
    errors,
    warnings: result.warnings,
    merged_yaml: result.merged_yaml,
    includes: result.includes.map((include) => ({ ...include, extra: { ...include.extra } })),
    jobs: withJobs ? (errors.length === 0 ? jobs : []) : null,
  };
}
