/** Making pipelines of a configuration (docs/reference/pipelines.md#what-starts-a-pipeline). */
import type { Project } from '../../../access/index.ts';
import { type CiVariable, filteredText, noJobsText } from '../../../ci_configuration/index.ts';
import { readCommit, repositoryOf } from '../../../git/index.ts';
import { badParam, type Caller, invalid, type Services } from '../../../http/index.ts';
import type { Source } from '../../code/pipelines/index.ts';
import { limitsOf } from '../../instance/plan_limits/index.ts';
import { compileBuilt, noContentText, refOf, type ToBuild } from '../configuration/lint_actions.ts';
import { configPathOf } from '../configuration/queries.ts';
import { locationOf } from '../configuration/rules.ts';
import { type Built, type Rights, rightsOn } from '../configuration/variable_queries.ts';
import { mayGiveVariables } from './access.ts';
import { openOnesOf } from './queries.ts';
import { type Content, type GivenVariable, type NewPipeline, type Parts, storePipeline } from './store_actions.ts';

/** The most jobs of a pipeline, where the server sets no limit. */
const maximumJobs = 5_000;

const missingText = 'Missing CI config file';
const tooManyText = (most: number) => `Pipeline size limit exceeded! The number of jobs has to be less than ${most}`;
export const noVariablesText = 'Insufficient permissions to set pipeline variables';
export const doubledText = (key: string) => `Duplicate variable name: ${key}`;
const noRightText = (ref: string) =>
  `You do not have sufficient permission to run a pipeline on '${ref}'. Please select a different branch or contact your administrator for assistance.`;

export const startRefusals = [
  missingText,
  filteredText,
  noJobsText,
  'Reference not found',
  noRightText('<ref>'),
  tooManyText(0).replace('0', '<number>'),
  doubledText('<key>'),
  noVariablesText,
  '<what is wrong with the configuration>',
] as const;

/** Whether an error says that the configuration wants no pipeline, and is not wrong. */
const isNoReason = (error: string) => error === filteredText || error === noJobsText;

/** As JSON writes NUL and halves of characters, which the database does not take. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** @throws ApiError 400 for values of inputs that the database does not take */
export function refuseUnstorable(inputs: Asked['inputs'] = {}): void {
  if (unstorable.test(JSON.stringify(inputs))) throw badParam('inputs', 'is invalid');
}

const refusedFor = (text: string) => invalid({ base: [text] });

export interface Asked {
  source: Exclude<Source, 'external'>;
  /** The name of a branch or tag, or its full name. */
  ref: string;
  variables: readonly GivenVariable[];
  inputs?: Readonly<Record<string, unknown>>;
  /** The commit; undefined for the head of the ref. */
  sha?: string;
  before_sha?: string;
  requested_as?: string;
  schedule_id?: number;
  predefined?: Readonly<Record<string, string>>;
  /** The merge request whose head is built; then the ref is not looked for. */
  about?: {
    /** Null if it is gone. */
    id: number | null;
    source_branch: string;
    /** The commit that changes are compared with. */
    base: string | null;
    rights: Rights;
  };
  /** The bridge that starts it, with what it adds. */
  started_by?: {
    /** The pipeline that all began with. */
    tree_id: number;
    /** A child is made for what its parent is made for, by a configuration of its own. */
    child?: Child;
  };
}

/** What a child has from its bridge. */
interface Child extends Pick<ToBuild, 'artifact'> {
  parent_id: number;
  /** The branch or tag of the parent, which may be gone. */
  ref: Built['ref'];
  /** The text of its configuration. */
  content: string;
}

/** A pipeline as it would be made, or why there is none. */
export type Planned =
  | { made: NewPipeline; content: Parts }
  | { made?: NewPipeline; errors: readonly string[]; why: 'wrong' | 'unwanted' | 'refused' };

const asVariable = ({ key, value, variable_type, raw = false }: GivenVariable): CiVariable =>
  raw || variable_type === 'file' ? { key, value, raw: true } : { key, value };

/** The open merge requests of a branch. Those of a push are as they were then, and a child has what its parent has. */
async function openOnes(
  db: Services['db'],
  project: Project,
  { type, name }: Built['ref'],
  { source }: Asked,
): Promise<Record<string, string>> {
  const isKnown = source === 'push' || source === 'parent_pipeline' || type !== 'branch';
  const open = isKnown ? undefined : await openOnesOf(db, project.id, name);
  return open === undefined ? {} : { CI_OPEN_MERGE_REQUESTS: open };
}

/**
 * Compiles the configuration of a project for a branch or tag.
 * @returns `why` there is none: the configuration is wrong, nothing in it is for this pipeline, or the caller may not start it
 * @throws TooMuchWaiting
 */
export async function planPipeline(
  services: Services,
  { project, caller }: { project: Project; caller: Caller },
  asked: Asked,
): Promise<Planned> {
  const { db } = services;
  const { source, ref, variables, inputs, sha: given, before_sha, about, started_by } = asked;
  const child = started_by?.child;
  const repository = repositoryOf(services, project);
  // The schedule has its variables from those who manage it, a child from its project, and the payload is the server's own.
  const areGiven = source !== 'schedule' && !child && variables.some(({ key }) => key !== 'CI_TRIGGER_PAYLOAD');
  if (areGiven && !(await mayGiveVariables({ db, project }))) return { errors: [noVariablesText], why: 'refused' };
  const named = about
    ? { ref: { type: 'merge_request' as const, name: about.source_branch }, sha: given ?? '' }
    : ((await refOf(repository, ref)) ?? (child && given !== undefined ? { ref: child.ref, sha: given } : undefined));
  if (!named) return { errors: ['Reference not found'], why: 'unwanted' };
  const sha = given ?? named.sha;
  const rights = about?.rights ?? (await rightsOn(db, project, caller, named.ref));
  if (!rights.may_run) return { errors: [noRightText(ref)], why: 'refused' };
  const predefined = { ...asked.predefined, ...(await openOnes(db, project, named.ref, asked)) };
  const made: NewPipeline = {
    ...{
      project_id: project.id,
      user_id: caller.id,
      source,
      ref: about ? ref : named.ref.name,
      tag: named.ref.type === 'tag',
      sha,
    },
    ...{ is_protected: rights.is_protected, predefined },
    ...(before_sha === undefined ? {} : { before_sha }),
    ...(asked.requested_as === undefined ? {} : { requested_as: asked.requested_as }),
    ...(asked.schedule_id === undefined ? {} : { schedule_id: asked.schedule_id }),
    ...(about && about.id !== null && { merge_request_id: about.id }),
    ...(started_by && { tree_id: started_by.tree_id }),
    ...(child && { parent_id: child.parent_id }),
  };
  const built = {
    ...{ ref: named.ref, tag_message: 'tag_message' in named ? (named.tag_message ?? null) : null, source, predefined },
    ...(about && { rights, ...(about.base !== null && { compared_with: about.base }) }),
    commit: await readCommit(repository, sha),
    ...(before_sha === undefined ? {} : { before_sha }),
  };
  const { result, selection } = await compileBuilt(
    services,
    { project, caller },
    {
      content: child?.content ?? locationOf(await configPathOf(db, project.id)),
      ...{ built, selects: true, with_jobs: true },
      ...(child?.artifact && { artifact: child.artifact }),
      variables: variables.map(asVariable),
      ...(inputs && { inputs }),
    },
  );
  if (result.errors.length > 0) {
    const isMissing = result.errors.length === 1 && result.errors[0] === noContentText;
    return { made, errors: isMissing ? [missingText] : result.errors, why: isMissing ? 'unwanted' : 'wrong' };
  }
  if (!selection || selection.errors.length > 0)
    return { made, errors: selection?.errors ?? [], why: selection?.errors.every(isNoReason) ? 'unwanted' : 'wrong' };
  const most = (await limitsOf(db)).ci_pipeline_size || maximumJobs;
  if (selection.jobs.length > most) return { made, errors: [tooManyText(most)], why: 'wrong' };
  return { made, content: { ...selection, stages: result.stages, variables } };
}

/**
 * Stores a pipeline that nobody waits for: one that has failed if the configuration is wrong, and none if it wants none.
 * @param isSkipped whether none of its jobs are to run
 * @returns its id
 */
export async function storePlanned(
  services: Services,
  planned: Planned,
  { isSkipped = false }: { isSkipped?: boolean } = {},
): Promise<number | undefined> {
  const toStore = storable(planned);
  return toStore && storePipeline(services, toStore.made, isSkipped ? { status: 'skipped' } : toStore.content);
}

/** What there is to store of a plan; undefined for a pipeline that is not wanted, or refused. */
export function storable(planned: Planned): { made: NewPipeline; content: Content } | undefined {
  if (!('errors' in planned)) return planned;
  const { made, errors, why } = planned;
  return made && why === 'wrong' ? { made, content: { status: 'failed', yaml_errors: errors.join(', ') } } : undefined;
}

/** @throws ApiError 400 if there is no pipeline */
export function refusePlan(planned: Planned): Extract<Planned, { content: unknown }> {
  if ('errors' in planned) throw refusedFor(planned.errors.join(', '));
  return planned;
}

/**
 * Makes the pipeline that somebody asks for.
 * @returns its id
 * @throws ApiError 400, TooMuchWaiting
 */
export async function createPipeline(
  services: Services,
  granted: { project: Project; caller: Caller },
  asked: Asked,
): Promise<number> {
  refuseUnstorable(asked.inputs);
  const keys = asked.variables.map(({ key }) => key);
  const doubled = keys.find((key, index) => keys.indexOf(key) !== index);
  if (doubled !== undefined) throw refusedFor(doubledText(doubled));
  const { made, content } = refusePlan(await planPipeline(services, granted, asked));
  return (await storePipeline(services, made, content))!;
}
