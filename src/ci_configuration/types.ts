/**
 * What a CI configuration is when it is compiled (docs/reference/ci_configuration.md). All of it is plain data, which goes from thread to thread and into JSON as it is;
 * what users name is in lists with the name as a member, never a key of an object.
 */

/** The commit that paths of files are about; `project` is its full path. Undefined for files that come from elsewhere, which have no commit. */
export interface FileContext {
  project: string;
  sha: string;
}

/** A file to be included. `ref` is undefined for the head of the default branch, `job` names one of the pipeline that starts this one. */
export type FileRequest =
  | { type: 'local'; context: FileContext; path: string }
  | { type: 'project'; project: string; ref: string | undefined; path: string }
  | { type: 'remote'; url: string }
  | { type: 'artifact'; job: string; path: string };

/** A file that was read: UTF-8 text, the commit that local paths in it are about, and the addresses at which people see it. */
export interface FileContent {
  content: string;
  context: FileContext | undefined;
  blob: string | null;
  raw: string | null;
}

/** Why there is no file. Each has a text in `includes.ts`; `reason` and `status` are part of it. */
export type FileRefusal =
  | { refused: 'file_missing' | 'ref_missing' | 'project_hidden' }
  | { refused: 'bad_address' | 'timeout' | 'took_too_long' | 'too_big' }
  | { refused: 'http_status'; status: number }
  | { refused: 'unreachable'; reason: string }
  | { refused: 'no_parent_pipeline' | 'job_missing' };

/** Reads files for the compiler, with the rights of the person for whom it compiles. It never throws for what a file or its author does. */
export interface Files {
  read(request: FileRequest): Promise<FileContent | FileRefusal>;
  /** All paths of a commit, in the order of git. */
  paths(context: FileContext): Promise<readonly string[]>;
}

/** Globs, and where they are looked for: `compare_to` is a ref. */
export interface Changes {
  paths: readonly string[];
  compare_to?: string;
}
export interface Exists {
  paths: readonly string[];
  project?: string;
  ref?: string;
}

/** The conditions of a rule, which all must hold; without any, it holds. `if` is an expression whose syntax was checked. */
export interface Clauses {
  if?: string;
  changes?: Changes;
  exists?: Exists;
}

/** What there is to compile. */
export interface CompileInput {
  /** The text of the file. */
  content: string;
  /** The commit of the file; undefined for a file from another system. */
  context: FileContext | undefined;
  files: Files;
  /** The variables that `include` may use, by key. */
  variables: ReadonlyMap<string, string>;
  /** Whether the rule of an include holds. */
  holds: (clauses: Clauses, context: FileContext | undefined) => Promise<boolean>;
  /** Values for the inputs of the header. */
  inputs?: Readonly<Record<string, unknown>>;
  /** Values of masked variables, which no text shows. */
  masked?: readonly string[];
}

/** A variable of the file. `expand` false: `$` in its value is text. `description` and `options` are at the root only. */
export interface Variable {
  key: string;
  value: string;
  expand: boolean;
  description?: string;
  options?: readonly string[];
}

export type JobWhen = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';
export type RuleWhen = JobWhen | 'never';
/** Whether a failure counts; with exit codes it does, unless the job ended with one of them. */
export type AllowFailure = boolean | { exit_codes: readonly number[] };

/**
 * What a job waits for: a job of this pipeline, by its name as multiplied; one of the pipeline's parent or of its other children, where `pipeline` is its id as text, often a variable;
 * the newest successful one of another project's ref.
 */
export type Need =
  | { type: 'job'; job: string; artifacts: boolean; optional: boolean }
  | { type: 'pipeline'; pipeline: string; job: string; artifacts: boolean }
  | { type: 'project'; project: string; ref: string; job: string; artifacts: boolean };

/** A rule of a job. What it leaves out comes from the job; `needs` replaces those of the job, `variables` are added. */
export interface Rule extends Clauses {
  when?: RuleWhen;
  start_in_s?: number;
  allow_failure?: AllowFailure;
  variables: readonly Variable[];
  needs?: readonly Need[];
  interruptible?: boolean;
}

/** `only` or `except`. In `refs`: words such as `branches`, names with `*`, and `/expression/`, with `@group/project` after it perhaps. */
export interface OnlyExcept {
  refs?: readonly string[];
  /** Expressions as in `if`. */
  variables?: readonly string[];
  changes?: readonly string[];
  kubernetes?: 'active';
}

export type OnNewCommit = 'conservative' | 'interruptible' | 'none' | 'disabled';
export type OnJobFailure = 'none' | 'all';
export interface AutoCancel {
  on_new_commit?: OnNewCommit;
  on_job_failure?: OnJobFailure;
}

export interface WorkflowRule extends Clauses {
  when: 'always' | 'never';
  variables: readonly Variable[];
  auto_cancel?: AutoCancel;
}

/** Whether there is a pipeline, and what it is called. Without `rules` there always is one. */
export interface Workflow {
  rules?: readonly WorkflowRule[];
  name?: string;
  auto_cancel: AutoCancel;
}

/** `auto_stop_in` is a duration as it was written, since it may have variables. */
export interface JobEnvironment {
  name: string;
  action: 'start' | 'prepare' | 'stop' | 'verify' | 'access';
  url?: string;
  on_stop?: string;
  auto_stop_in?: string;
  deployment_tier?: string;
}

/** Which of the variables of the root and of `workflow` a job has: all, none, or those with these keys. */
export type InheritedVariables = boolean | readonly string[];

/** What jobs and bridges have in common. */
export interface Entry {
  /** As multiplied: `NAME 1/3`, `NAME: [a, b]`. */
  name: string;
  /** As it is written in the file. */
  written_name: string;
  stage: string;
  when: JobWhen;
  /** With `delayed`, in seconds. */
  start_in_s?: number;
  allow_failure: AllowFailure;
  rules?: readonly Rule[];
  only?: OnlyExcept;
  except?: OnlyExcept;
  /** Undefined: all jobs of earlier stages. */
  needs?: readonly Need[];
  /** Those of the matrix, too. */
  variables: readonly Variable[];
  inherit_variables: InheritedVariables;
  environment?: JobEnvironment;
  resource_group?: string;
  interruptible: boolean;
  /** The place among those that `parallel` made, from 1 on. */
  node?: { index: number; total: number };
}

/** `docker` and `kubernetes` are passed on to the runner. */
export interface Image {
  name: string;
  entrypoint?: readonly string[];
  pull_policy?: readonly string[];
  docker?: Readonly<Record<string, unknown>>;
  kubernetes?: Readonly<Record<string, unknown>>;
}
export interface Service extends Image {
  alias?: string;
  command?: readonly string[];
  variables: readonly Variable[];
}

/** A report: `paths` are globs; `coverage_format` is that of a coverage report. */
export interface Report {
  type: string;
  paths: readonly string[];
  coverage_format?: string;
}
export type UploadWhen = 'on_success' | 'on_failure' | 'always';
/** Files to keep. `expire_in` is a duration as it was written, or `never`. */
export interface Artifacts {
  paths: readonly string[];
  exclude: readonly string[];
  untracked: boolean;
  when: UploadWhen;
  access: 'all' | 'developer' | 'none';
  name?: string;
  expire_in?: string;
  expose_as?: string;
  reports: readonly Report[];
}

/** `key` is a text, or the content of files decides on it. */
export interface Cache {
  key: string | { files: readonly string[]; prefix?: string };
  paths: readonly string[];
  untracked: boolean;
  policy: string;
  when: UploadWhen;
  unprotect: boolean;
  fallback_keys: readonly string[];
}

export interface Retry {
  max: number;
  /** Failure reasons; empty: all. */
  when: readonly string[];
  exit_codes: readonly number[];
}

export interface Release {
  tag_name: string;
  description: string;
  name?: string;
  ref?: string;
  tag_message?: string;
  milestones: readonly string[];
  released_at?: string;
  links: readonly { name: string; url: string; filepath?: string; link_type?: string }[];
}

/** Something that a runner executes. */
export interface Job extends Entry {
  type: 'job';
  before_script: readonly string[];
  script: readonly string[];
  after_script: readonly string[];
  pre_get_sources_script: readonly string[];
  image?: Image;
  services: readonly Service[];
  tags: readonly string[];
  /** The jobs whose artifacts it gets. Undefined: those of its needs, or of all jobs of earlier stages. */
  dependencies?: readonly string[];
  artifacts?: Artifacts;
  caches: readonly Cache[];
  retry?: Retry;
  /** In seconds. */
  timeout_s?: number;
  release?: Release;
  /** An expression in RE2 syntax, without the slashes. */
  coverage?: string;
  id_tokens: readonly { name: string; aud: string | readonly string[] }[];
}

/** What a bridge starts: a pipeline of another project, or a child, whose configuration is what `include` says, as it was written. */
export type Downstream =
  | { type: 'project'; project: string; branch?: string }
  | { type: 'child'; include: readonly unknown[] };

/** A job that starts another pipeline. */
export interface Bridge extends Entry {
  type: 'bridge';
  /** Undefined for a bridge that takes the status of a pipeline that is there already, which `upstream` names. */
  downstream?: Downstream;
  upstream?: string;
  /** Whether the bridge takes the status of what it starts. */
  strategy?: 'depend' | 'mirror';
  forwards_yaml_variables: boolean;
  forwards_pipeline_variables: boolean;
  inputs: Readonly<Record<string, unknown>>;
}

/** A file that the configuration includes, as lint shows it. */
export interface Include {
  type: 'local' | 'file' | 'remote' | 'artifact';
  location: string;
  blob: string | null;
  raw: string | null;
  extra: Readonly<Record<string, string>>;
  context_project: string | null;
  context_sha: string | null;
}

/** A compiled configuration, or what is wrong with it. With errors, jobs, variables and stages are empty. */
export interface CompileResult {
  errors: string[];
  warnings: string[];
  includes: Include[];
  /** The configuration after `include`, `extends` and `!reference`, as YAML; null if it was not parsed. */
  merged_yaml: string | null;
  jobs: (Job | Bridge)[];
  workflow: Workflow;
  variables: Variable[];
  /** From `.pre` to `.post`. */
  stages: string[];
}
