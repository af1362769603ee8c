/** The keywords of jobs: the shape of each, how errors speak of it, and who may have it. */
import { month_s, week_s } from '../durations.ts';
import type { AllowFailure, InheritedVariables, Job, Retry } from '../types.ts';
import { isList, isMapping, type Value } from '../values.ts';
import { environment, release } from './deployments.ts';
import { artifacts, caches } from './files.ts';
import { image, services } from './images.ts';
import { needs, parallel, trigger } from './needs.ts';
import { isExpression, jobRules, policy } from './rules.ts';
import {
  attribute,
  boolean,
  booleanOr,
  entry,
  integerWithin,
  lineOrLines,
  lines,
  mapped,
  mappingOr,
  oneOf,
  type Parsed,
  type Place,
  record,
  requiring,
  type Shape,
  secondsUpTo,
  text,
  textOfAtMost,
  textOrTexts,
  texts,
} from './shape.ts';
import { jobVariables } from './variables.ts';

const tagLimit = 50;
const mostRetries = 2;

const tags: Shape<readonly string[]> = mapped(texts, (read, at) =>
  read.length >= tagLimit ? at.fault(`must be less than the limit of ${tagLimit} tags`) : read,
);

const integers: Shape<readonly number[]> = (value, at) => {
  const items = isList(value) ? value : [value];
  return items.every((item) => typeof item === 'number' && Number.isInteger(item))
    ? (items as readonly number[])
    : at.fault('should be an array of integers or an integer');
};

const exitCodes: Shape<{ exit_codes: readonly number[] }> = (value, at) => {
  const read = record({ exit_codes: attribute(integers) }, ['exit_codes'])(value, at);
  return read?.exit_codes && { exit_codes: read.exit_codes };
};

const noFailure: Shape<never> = (_, at) => at.asAttribute.fault('should be a hash or a boolean value');
const allowFailure: Shape<AllowFailure> = booleanOr(mappingOr(exitCodes, noFailure));

/** Why jobs fail, as `retry:when` has it. */
const failureReasons = [
  'always',
  'unknown_failure',
  'script_failure',
  'api_failure',
  'stuck_or_timeout_failure',
  'runner_system_failure',
  'runner_unsupported',
  'stale_schedule',
  'job_execution_timeout',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
  'missing_dependency_failure',
  'forward_deployment_failure',
  'deployment_rejected',
  'protected_environment_failure',
  'environment_creation_failure',
  'user_blocked',
  'project_deleted',
  'builds_disabled',
  'no_matching_runner',
  'trace_size_exceeded',
  'image_pull_failure',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted',
  'release_failure',
];

const retryWhen: Shape<readonly string[]> = mapped(textOrTexts, (read, at) => {
  const unknown = read.filter((reason) => !failureReasons.includes(reason));
  if (unknown.length > 0) return at.fault(`contains unknown values: ${unknown.join(', ')}`);
  return read.includes('always') ? [] : read;
});

const retries = integerWithin(0, mostRetries, 'should be an integer');
const detailedRetry = record({ max: attribute(retries), when: attribute(retryWhen), exit_codes: attribute(integers) });

const retry: Shape<Retry> = mapped(
  mappingOr(detailedRetry, (value: Value, at: Place): { max?: number } | undefined => {
    if (typeof value !== 'number') return at.fault('has to be either an integer or a hash');
    const max = retries(value, at.asAttribute);
    return max === undefined ? undefined : { max };
  }),
  ({ max = mostRetries, ...others }: Partial<Retry>) => ({
    max,
    when: others.when ?? [],
    exit_codes: others.exit_codes ?? [],
  }),
);

const coverage: Shape<string> = (value, at) => {
  const source = typeof value === 'string' ? /^\/(.+)\/$/s.exec(value)?.[1] : undefined;
  return source !== undefined && isExpression(source)
    ? source
    : at.fault('must be a regular expression with re2 syntax');
};

const script: Shape<readonly string[]> = mapped(lineOrLines, (read, at) =>
  read.every((line) => line.trim() === '') ? at.asAttribute.fault("can't be blank") : read,
);

/** One audience stays a text in the token. */
const audience: Shape<string | readonly string[]> = (value, at) =>
  typeof value === 'string' ? value : textOrTexts(value, at);
const idToken = requiring(['aud'], record({ aud: entry(audience) }));

const idTokens: Shape<Job['id_tokens']> = (value, at) => {
  if (!isMapping(value)) return at.fault('should be a hash');
  return [...value].flatMap(([name, given]) => {
    const aud = idToken(given, at.entry(name))?.aud;
    return aud ? { name, aud } : [];
  });
};

const hooks: Shape<readonly string[]> = mapped(
  record({ pre_get_sources_script: entry(lines) }),
  ({ pre_get_sources_script = [] }) => pre_get_sources_script,
);

const resourceGroup: Shape<string> = mapped(textOfAtMost(255), (read, at) =>
  /^[a-zA-Z0-9._/${}\- ]+$/.test(read)
    ? read
    : at.fault("can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces"),
);

/** `inherit:default` names keywords, `inherit:variables` variables. */
const inherited =
  (mayNameAs?: (key: string) => boolean): Shape<InheritedVariables> =>
  (value, at) =>
    booleanOr<readonly string[]>((list) => {
      if (!isList(list) || !list.every((item) => typeof item === 'string'))
        return at.fault('should be a boolean or an array of strings');
      const unknown = mayNameAs ? list.filter((key) => !mayNameAs(key)) : [];
      return unknown.length > 0 ? at.fault(`contains unknown values: ${unknown.join(', ')}`) : list;
    })(value, at);

/** What `default` may have, for the jobs that have none of their own. */
export const inheritable = {
  after_script: entry(lines),
  artifacts: entry(artifacts),
  before_script: entry(lines),
  cache: entry(caches),
  hooks: entry(hooks),
  id_tokens: entry(idTokens),
  image: entry(image),
  interruptible: entry(boolean),
  retry: entry(retry),
  services: entry(services),
  tags: entry(tags),
  timeout: entry(secondsUpTo(month_s)),
};

const inherit = record({
  default: entry(inherited((key) => Object.hasOwn(inheritable, key))),
  variables: entry(inherited()),
});

const whens = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const;
const bridgeWhens = ['on_success', 'on_failure', 'always', 'manual'] as const;

/** What jobs and bridges may have. `extends` has had its effect. */
const shared = {
  extends: attribute(textOrTexts),
  stage: entry(text),
  only: entry(policy),
  except: entry(policy),
  rules: entry(jobRules),
  needs: entry(needs),
  variables: entry(jobVariables),
  allow_failure: entry(allowFailure),
  parallel: entry(parallel),
  resource_group: attribute(resourceGroup),
  environment: entry(environment),
  inherit: entry(inherit),
};

export const jobKeywords = {
  ...shared,
  ...inheritable,
  script: entry(script),
  when: attribute(oneOf(whens)),
  start_in: attribute(secondsUpTo(week_s)),
  dependencies: attribute(texts),
  release: entry(release),
  coverage: entry(coverage),
};

export const bridgeKeywords = {
  ...shared,
  interruptible: inheritable.interruptible,
  when: attribute(oneOf(bridgeWhens)),
  trigger: entry(trigger),
};

export type JobKeywords = Parsed<typeof jobKeywords>;
export type BridgeKeywords = Parsed<typeof bridgeKeywords>;
export type InheritableKeywords = Parsed<typeof inheritable>;
