/** A job as a runner gets it (docs/reference/runner_protocol.md#the-job). */
import { createHash } from 'node:crypto';
import type { Cache, Image, Job, Service, Variables } from '../../../ci_configuration/index.ts';
import { expand } from '../../../ci_configuration/index.ts';
import type { Dependency } from '../artifacts/dependency_queries.ts';
import { runnerReasons } from './rules.ts';
import type { Given, SentVariable } from './variable_queries.ts';

/** The content of files that the key of a cache follows from: the newest commits that changed them. */
export type CacheCommits = ReadonlyMap<string, string>;

const presentVariable = ({ key, value, predefined, file, masked, raw }: SentVariable) => ({
  ...{ key, value, public: predefined === true && masked !== true },
  ...{ file: file === true, masked: masked === true, raw: raw === true },
});

const presentImage = ({ name, entrypoint, pull_policy, docker, kubernetes }: Image) => ({
  ...{ name, entrypoint: entrypoint ?? null, ports: [], pull_policy: pull_policy ?? null },
  executor_opts: { ...(docker && { docker }), ...(kubernetes && { kubernetes }) },
});

const presentService = ({ alias, command, variables, ...image }: Service) => ({
  ...presentImage(image),
  ...{ alias: alias ?? null, command: command ?? null },
  variables: variables.map(({ key, value, expand: isExpanded }) => ({
    ...{ key, value, public: true, file: false, masked: false, raw: !isExpanded },
  })),
});

const step = (name: string, script: readonly string[], timeout: number) => ({
  ...{ name, script, timeout },
  ...(name === 'after_script' ? { when: 'always', allow_failure: true } : { when: 'on_success', allow_failure: false }),
});

/** Reports that are stored as they are; all others are compressed. */
const rawReports: ReadonlySet<string> = new Set([
  ...['accessibility', 'api_fuzzing', 'browser_performance', 'codequality', 'container_scanning', 'coverage_fuzzing'],
  ...['dast', 'dependency_scanning', 'license_scanning', 'load_performance', 'repository_xray', 'requirements'],
  ...['sast', 'secret_detection', 'terraform', 'annotations'],
]);

const fileNames: Readonly<Record<string, string>> = {
  cobertura: 'cobertura-coverage.xml',
  cyclonedx: 'gl-sbom.cdx.zip',
  dotenv: '.env',
  jacoco: 'jacoco-coverage.xml',
  junit: 'junit.xml',
  metrics: 'metrics.txt',
  terraform: 'tfplan.json',
};

function presentReport({ type, paths, coverage_format }: NonNullable<Job['artifacts']>['reports'][number]) {
  const artifact_type = type === 'coverage_report' ? (coverage_format ?? type) : type;
  const name = fileNames[artifact_type] ?? `gl-${artifact_type.replaceAll('_', '-')}-report.json`;
  const artifact_format = rawReports.has(artifact_type) ? 'raw' : 'gzip';
  return { name: artifact_format === 'gzip' ? `${name}.gz` : name, paths, artifact_type, artifact_format };
}

/** What the runner uploads after a job, or null. */
export function presentArtifacts({ artifacts }: Job) {
  if (!artifacts) return null;
  const { paths, exclude, untracked, when, name, expire_in, reports } = artifacts;
  const kept = expire_in === undefined ? {} : { expire_in };
  const archive = {
    ...{ name: name ?? 'artifacts', untracked, paths, when, ...kept },
    ...(exclude.length > 0 ? { exclude } : {}),
    ...{ artifact_type: 'archive', artifact_format: 'zip' },
  };
  return [
    ...(paths.length > 0 || untracked ? [archive] : []),
    ...reports.map((report) => ({ ...presentReport(report), untracked: false, when: 'always', ...kept })),
  ];
}

/** The paths of files that keys of caches follow from. */
export const cacheFiles = ({ caches }: Job): string[] =>
  caches.flatMap(({ key }) => (typeof key === 'string' ? [] : key.files));

function cacheKey({ key }: Cache, commits: CacheCommits, variables: Variables): string {
  if (typeof key === 'string') return expand(key, variables);
  const known = key.files.flatMap((file) => commits.get(file) ?? []);
  const prefix = key.prefix === undefined ? '' : `${expand(key.prefix, variables)}-`;
  return prefix + (known.length > 0 ? createHash('sha1').update(known.join()).digest('hex') : 'default');
}

function presentCaches({ caches }: Job, { is_separated, commits, variables }: Presented) {
  return caches.map((cache) => {
    const suffix = is_separated && !cache.unprotect ? '-protected' : '-non_protected';
    return {
      key: cacheKey(cache, commits, variables) + suffix,
      ...{ untracked: cache.untracked, paths: cache.paths, when: cache.when },
      policy: expand(cache.policy, variables),
      fallback_keys: cache.fallback_keys.map((key) => expand(key, variables) + suffix),
    };
  });
}

interface Presented {
  /** Whether its caches are not those of other branches and tags. */
  is_separated: boolean;
  commits: CacheCommits;
  /** With their own values expanded. */
  variables: Variables;
}

/** The refs that a runner fetches: the commit of the pipeline, which is there after its branch has moved on, and the branch or tag. */
function refspecs({ pipeline, has_ref }: Given, depth: number): string[] {
  const { id, ref, tag } = pipeline;
  const own = `+refs/pipelines/${id}:refs/pipelines/${id}`;
  if (depth === 0) return [own, '+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  if (!has_ref) return [own];
  return [own, tag ? `+refs/tags/${ref}:refs/tags/${ref}` : `+refs/heads/${ref}:refs/remotes/origin/${ref}`];
}

/** How many commits a job fetches; 0 for all. */
function depthOf({ pipeline }: Given, variables: Variables): number {
  const { value } = variables.get('GIT_DEPTH') ?? {};
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : (pipeline.ci_default_git_depth ?? 0);
}

/** A job whose artifacts another one gets. */
interface DependencyOfJob {
  id: number;
  name: string;
  artifacts_file: { filename: string; size: number };
}

/** A dependency with an archive. */
export const presentDependency = ({ id, name, filename, size }: Dependency): DependencyOfJob[] =>
  filename === null || size === null ? [] : [{ id, name, artifacts_file: { filename, size } }];

/** What is presented of a job besides itself. */
interface Surroundings extends Presented {
  sent: readonly SentVariable[];
  repository_url: string;
  dependencies: readonly DependencyOfJob[];
}

/** The reply to a runner that asks for a job. */
export function presentForRunner(given: Given, surroundings: Surroundings) {
  const { job, token, pipeline, project, caller } = given;
  const definition = job.definition.job as Job;
  const { variables, sent, dependencies } = surroundings;
  const depth = depthOf(given, variables);
  const script = [...definition.before_script, ...definition.script];
  const { after_script, pre_get_sources_script, image, services } = definition;
  return {
    id: job.id,
    token,
    allow_git_fetch: pipeline.build_git_strategy === 'fetch',
    job_info: {
      ...{ id: job.id, name: job.name, stage: definition.stage, pipeline_id: pipeline.id },
      ...{ project_id: project.id, project_name: project.name, project_full_path: project.full_path },
      ...{ namespace_id: project.namespace_id, user_id: caller.id, time_in_queue_seconds: Math.round(job.queued_s) },
      project_jobs_running_on_instance_runners_count: '0',
    },
    git_info: {
      ...{ repo_url: surroundings.repository_url, repo_object_format: pipeline.sha.length === 64 ? 'sha256' : 'sha1' },
      ...{ ref: pipeline.ref, sha: pipeline.sha, before_sha: pipeline.before_sha ?? '0'.repeat(pipeline.sha.length) },
      ...{ ref_type: pipeline.tag ? 'tag' : 'branch', refspecs: refspecs(given, depth), depth },
      protected: pipeline.is_protected,
    },
    runner_info: { timeout: job.timeout_s, runner_session_url: null },
    inputs: [],
    variables: sent.map(presentVariable),
    steps: [
      step('script', script, job.timeout_s),
      ...(after_script.length > 0 ? [step('after_script', after_script, job.timeout_s)] : []),
    ],
    hooks:
      pre_get_sources_script.length > 0 ? [{ name: 'pre_get_sources_script', script: pre_get_sources_script }] : [],
    image: image ? presentImage(image) : null,
    services: services.map(presentService),
    artifacts: presentArtifacts(definition),
    cache: presentCaches(definition, surroundings),
    credentials: [],
    dependencies: dependencies.map((dependency) => ({ ...dependency, token })),
    features: {
      ...{ trace_sections: true, token_mask_prefixes: ['glpat-', 'glcbt-', 'glrt-', 'gldt-', 'glptt-'] },
      failure_reasons: runnerReasons,
    },
    secrets: {},
    run: null,
    policy_options: {},
  };
}
