/** The settings of projects (docs/reference/projects.md#parameters, docs/adding_a_field.md). */
import { Type } from 'typebox';
import type { Field } from '../../../fields/index.ts';
import { CommaList, checked, nullable, since, Visibility } from '../../../http/index.ts';
import { choice, coded, column, columnOr, flag, integer, text, texts } from '../../../relations/index.ts';
import { dependencyPathReasons } from '../../code/dependencies/index.ts';

type Fields = Record<string, Field>;

/** Who can use a feature of a project, or the wiki of a group: no one, members, or everyone who can see it. */
export const FeatureLevel = () => Type.Enum(['disabled', 'private', 'enabled']);

const maximumTopics = 100;
const maximumTopic = 255;
const maximumConfigPath = 255;

function topicReasons(topics: string[]): string[] {
  if (topics.length > maximumTopics) return [`are too many (maximum is ${maximumTopics})`];
  return topics.some((topic) => topic.length > maximumTopic)
    ? [`is too long (maximum is ${maximumTopic} characters)`]
    : [];
}
export const Topics = () => checked(CommaList(Type.String()), topicReasons);

const level = (name: string) =>
  ({
    column: 'given',
    input: FeatureLevel(),
    reply: FeatureLevel(),
    relation: column(name, coded('text', { disabled: 0, private: 10, enabled: 20 })),
  }) as const;

/** A column that is a flag. */
export function flagField(name: string, description?: string) {
  const schema = Type.Boolean(description === undefined ? {} : { description });
  return { column: 'given', input: schema, reply: schema, relation: column(name, flag) } as const;
}

const template = (name: string, longest: number) =>
  ({
    column: 'given',
    input: checked(nullable(Type.String()), (value) =>
      value !== null && [...value].length > longest ? [`is too long (maximum is ${longest} characters)`] : [],
    ),
    reply: nullable(Type.String()),
    relation: column(name, text()),
  }) as const;

/** What clients offer as the description of something new. */
function offeredText(name: string, what: string) {
  const schema = () =>
    since('premium', nullable(Type.String({ description: `What clients offer as the description of a new ${what}` })));
  return { column: 'given', input: schema(), reply: schema(), relation: column(name, text()) } as const;
}

const describingFields = {
  description: { column: 'given', input: nullable(Type.String()), relation: column('description', text()) },
  visibility: { column: 'given', input: Visibility },
  topics: { column: 'given', input: Topics(), relation: column('topics', texts()) },
} satisfies Fields;

export const levelFields = {
  issues_access_level: level('issues_access_level'),
  repository_access_level: level('repository_access_level'),
  merge_requests_access_level: level('merge_requests_access_level'),
  forking_access_level: level('forking_access_level'),
  snippets_access_level: level('snippets_access_level'),
  environments_access_level: level('environments_access_level'),
  wiki_access_level: level('wiki_access_level'),
  feature_flags_access_level: level('feature_flags_access_level'),
  releases_access_level: level('releases_access_level'),
  builds_access_level: level('builds_access_level'),
} satisfies Fields;

export const featureFields = {
  ...levelFields,
  public_jobs: flagField('public_jobs', 'Whether Guests of a private project may read its pipelines and jobs'),
} satisfies Fields;

export const accessFields = { request_access_enabled: flagField('request_access_enabled') } satisfies Fields;

const lfsFields = { lfs_enabled: flagField('lfs_enabled') } satisfies Fields;
const deploymentFreeze = Type.Enum(['mark', 'refuse'], {
  description: 'Whether deployments during a freeze are marked or refused',
});

export const usageFields = {
  emails_enabled: flagField('emails_enabled'),
  ...lfsFields,
  enforce_auth_checks_on_uploads: flagField(
    'enforce_auth_checks_on_uploads',
    'Whether images in texts are shown only to callers who can see the project',
  ),
  freeze_blocks_pushes: flagField('freeze_blocks_pushes', 'Whether freeze periods block changes to protected branches'),
  deployment_freeze: {
    column: 'given',
    input: deploymentFreeze,
    reply: deploymentFreeze,
    relation: column('deployment_freeze', text()),
  },
  ci_forward_deployment_enabled: flagField(
    'ci_forward_deployment_enabled',
    'Whether a job fails that would deploy something older than what its environment is at',
  ),
  ci_allow_fork_pipelines_to_run_in_parent_project: flagField(
    'ci_allow_fork_pipelines_to_run_in_parent_project',
    'Whether members may run pipelines of merge requests from forks in this project',
  ),
  ci_forward_deployment_rollback_allowed: flagField(
    'ci_forward_deployment_rollback_allowed',
    'Whether an older job that has deployed may do so again',
  ),
  allow_pipeline_trigger_approve_deployment: flagField(
    'allow_pipeline_trigger_approve_deployment',
    'Whether users may approve deployments of pipelines that they started',
  ),
  issues_template: offeredText('issues_template', 'issue'),
} satisfies Fields;

/** A path of the repository, a file of another project, or an address (docs/reference/ci_configuration.md#the-file). */
function ciConfigPathReasons(value: string | null): string[] {
  const path = value ?? '';
  if ([...path].length > maximumConfigPath) return [`is too long (maximum is ${maximumConfigPath} characters)`];
  const leads = !/^https?:\/\//i.test(path) && /^\/|(?:^|\/)\.\.(?:\/|$)/.test(path);
  return leads ? ['cannot include leading slash or directory traversal.'] : [];
}

const maximumInteger = 2 ** 31 - 1;

/** After how many seconds the tokens of runners expire. */
export function expirationField(description: string) {
  const schema = () => nullable(Type.Integer({ minimum: 7200, maximum: maximumInteger, description }));
  return {
    column: 'given',
    input: schema(),
    reply: schema(),
    relation: column('runner_token_expiration_interval', integer(7200, maximumInteger)),
  } as const;
}

const autoCancel = Type.Enum(['enabled', 'disabled'], {
  description: 'Whether a newer commit of a branch cancels pipelines of older ones',
});

const keepLatest = Type.Boolean({
  description: 'Whether the files of jobs in the latest pipeline of a branch or tag that succeeded are kept',
});

const maximumTimeout_s = 2_629_746;
const timeout = Type.Integer({
  minimum: 600,
  maximum: maximumTimeout_s,
  description: 'Seconds that a job may take unless its configuration says otherwise; at most a month',
});
const gitStrategy = Type.Enum(['fetch', 'clone'], {
  description: 'Whether jobs may fetch into what an earlier one left, or clone',
});
const maximumDepth = 1000;
const gitDepth = nullable(
  Type.Integer({ minimum: 0, maximum: maximumDepth, description: 'How many commits jobs fetch; null and 0: all' }),
);
const separatedCaches = Type.Boolean({ description: 'Whether protected branches and tags have caches of their own' });

const largestFile = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 102_400,
    description: 'The largest file that a job may leave, in MiB; only administrators change it',
  }),
);
/** A limit of this server, which does not leave. */
export const artifactsSize = { column: 'given', input: largestFile, reply: largestFile } as const;

const variablesRole = Type.Enum(['no_one_allowed', 'owner', 'maintainer', 'developer'], {
  description: 'Who may give variables to the pipelines and jobs that they start',
});
const cancellationRole = Type.Enum(['developer', 'maintainer', 'no_one'], {
  description: 'Who may cancel pipelines and jobs',
});

/** Only callers who can read the code see them. */
export const codeFields = {
  dependency_paths: {
    column: 'given',
    input: checked(
      CommaList(
        Type.String({ description: 'A lock file that is read although it is in a folder of tests or foreign code' }),
      ),
      dependencyPathReasons,
    ),
    relation: column('dependency_paths', texts()),
  },
  ci_config_path: {
    column: 'given',
    input: checked(
      nullable(Type.String({ description: 'Where the configuration of pipelines is; null: `.gitlab-ci.yml`' })),
      ciConfigPathReasons,
    ),
    reply: nullable(Type.String()),
    relation: column('ci_config_path', text()),
  },
  auto_cancel_pending_pipelines: {
    column: 'given',
    input: autoCancel,
    reply: autoCancel,
    relation: columnOr('auto_cancel_pending_pipelines', choice('enabled', 'disabled'), 'enabled'),
  },
  shared_runners_enabled: flagField(
    'shared_runners_enabled',
    'Whether runners of the instance may take its jobs; by default as the groups above say',
  ),
  group_runners_enabled: flagField('group_runners_enabled', 'Whether runners of the groups above may take its jobs'),
  runner_token_expiration_interval: expirationField(
    'After how many seconds the tokens of its runners expire; null: as the groups above and the instance say',
  ),
  build_timeout: {
    column: 'given',
    input: timeout,
    reply: timeout,
    relation: columnOr('build_timeout', integer(600, maximumTimeout_s), 3600),
  },
  build_git_strategy: {
    column: 'given',
    input: gitStrategy,
    reply: gitStrategy,
    relation: columnOr('build_git_strategy', choice('fetch', 'clone'), 'fetch'),
  },
  ci_default_git_depth: {
    column: 'given',
    input: gitDepth,
    reply: gitDepth,
    relation: columnOr('ci_default_git_depth', integer(0, maximumDepth), 20),
  },
  ci_separated_caches: {
    column: 'given',
    input: separatedCaches,
    reply: separatedCaches,
    relation: columnOr('ci_separated_caches', flag, true),
  },
  keep_latest_artifact: {
    column: 'given',
    input: keepLatest,
    reply: keepLatest,
    relation: columnOr('keep_latest_artifact', flag, true),
  },
  ci_inbound_job_token_scope_enabled: flagField(
    'ci_inbound_job_token_scope_enabled',
    'Whether only the jobs of certain projects get into this one',
  ),
  ci_push_repository_for_job_token_allowed: flagField(
    'ci_push_repository_for_job_token_allowed',
    'Whether the jobs of the project may push to it',
  ),
  max_artifacts_size: artifactsSize,
  ci_pipeline_variables_minimum_override_role: {
    column: 'given',
    input: variablesRole,
    reply: variablesRole,
    relation: columnOr(
      'ci_pipeline_variables_minimum_override_role',
      choice('no_one_allowed', 'owner', 'maintainer', 'developer'),
      'developer',
    ),
  },
  ci_restrict_pipeline_cancellation_role: {
    column: 'given',
    input: cancellationRole,
    reply: cancellationRole,
    relation: columnOr(
      'ci_restrict_pipeline_cancellation_role',
      choice('developer', 'maintainer', 'no_one'),
      'developer',
    ),
  },
} satisfies Fields;

const mergeMethod = Type.Enum(['merge', 'rebase_merge', 'ff'], {
  description:
    '`merge` makes a merge commit, `rebase_merge` one only if a fast-forward were possible, `ff` fast-forwards',
});
const squashOption = Type.Enum(['never', 'always', 'default_on', 'default_off'], {
  description: 'Whether merge requests are squashed; with `default_on` and `default_off` each of them decides',
});
const skipped = nullable(Type.Boolean({ description: 'Whether skipped commit statuses count as successful' }));

/** Merge settings (docs/reference/projects.md#merging). */
export const mergeFields = {
  merge_method: { column: 'given', input: mergeMethod, reply: mergeMethod, relation: column('merge_method', text()) },
  squash_option: {
    column: 'given',
    input: squashOption,
    reply: squashOption,
    relation: column('squash_option', text()),
  },
  only_allow_merge_if_pipeline_succeeds: flagField(
    'only_allow_merge_if_pipeline_succeeds',
    'Whether the commit statuses of the head must have succeeded',
  ),
  only_allow_merge_if_all_discussions_are_resolved: flagField(
    'only_allow_merge_if_all_discussions_are_resolved',
    'Whether all threads must be resolved',
  ),
  remove_source_branch_after_merge: flagField(
    'remove_source_branch_after_merge',
    'Whether clients preselect that a new merge request removes its source branch',
  ),
  resolve_outdated_diff_discussions: flagField(
    'resolve_outdated_diff_discussions',
    'Whether threads on lines that a push changes are resolved',
  ),
  printing_merge_request_link_enabled: flagField(
    'printing_merge_request_link_enabled',
    'Whether a push of a branch is answered with the address at which to create a merge request',
  ),
  autoclose_referenced_issues: flagField(
    'autoclose_referenced_issues',
    'Whether merging into the default branch closes the issues that texts and commits say it closes',
  ),
  allow_merge_on_skipped_pipeline: {
    column: 'given',
    input: skipped,
    reply: skipped,
    relation: column('allow_merge_on_skipped_pipeline', flag),
  },
  suggestion_commit_message: template('suggestion_commit_message', 255),
  merge_commit_template: template('merge_commit_template', 500),
  squash_commit_template: template('squash_commit_template', 500),
  merge_requests_template: offeredText('merge_requests_template', 'merge request'),
} satisfies Fields;

/** Settings besides those of merging, in the order of the parameters. */
export const projectFields = {
  ...describingFields,
  ...featureFields,
  ...accessFields,
  ...lfsFields,
  ...usageFields,
  ...codeFields,
};
