/** What a bridge starts, and why it cannot (docs/reference/pipelines.md#bridges). Nothing is written here. */
import { levels, mayRead, mayUse, type Project, projectFor } from '../../../access/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { rightsBetween } from '../configuration/variable_queries.ts';
import { valuesAtEnd } from '../jobs/handing_out_actions.ts';
import { refOfPipeline } from '../jobs/variable_queries.ts';
import { isOutdated } from '../running/deployment_actions.ts';
import { variablesGivenTo, variablesOf } from '../running/queries.ts';
import { type Asked, planPipeline, storable } from '../running/start_actions.ts';
import type { Content, GivenVariable, NewPipeline } from '../running/store_actions.ts';
import { artifactReader } from './artifact_queries.ts';
import { ancestorsOf, newestOf, type ReadyBridge } from './queries.ts';
import { type BridgeFailure, limitOf, type Started, startedBy } from './rules.ts';

/** What becomes of a bridge. */
export type Outcome =
  | { reason: BridgeFailure }
  | { takes: number }
  | { made: NewPipeline; content: Content; tree_id: number };

interface Acting {
  project: Project;
  caller: Caller;
}

const failed = (reason: BridgeFailure): Outcome => ({ reason });

const mayStartIn = (project: Project): boolean =>
  !project.read_only &&
  mayUse(project, 'repository') &&
  mayUse(project, 'builds') &&
  project.access_level >= levels.developer;

/** A project that the caller may see. */
async function visibleProject({ db }: Services, caller: Caller, full_path: string): Promise<Project | undefined> {
  const project = full_path.includes('/') ? await projectFor(db, caller, full_path) : undefined;
  return project && mayRead(caller, project) ? project : undefined;
}

/** The variables that the pipeline gets: of two with one key that which was given to the pipeline of the bridge. */
async function forwarded(
  services: Services,
  { id, pipeline_id, bridge }: ReadyBridge,
  own: Started['variables'],
): Promise<GivenVariable[]> {
  const ofFile = own.map(({ key, value }): GivenVariable => ({ key, value, variable_type: 'env_var', raw: true }));
  if (!bridge.forwards_pipeline_variables) return ofFile;
  const [ofPipeline, toJob] = await Promise.all([variablesOf(services, pipeline_id), variablesGivenTo(services, id)]);
  const given = ofPipeline.flatMap(({ value, ...variable }) =>
    value === null || variable.key === 'CI_TRIGGER_PAYLOAD' ? [] : [{ ...variable, value }],
  );
  const ofPerson = toJob.map((variable): GivenVariable => ({ ...variable, variable_type: 'env_var' }));
  const byKey = [...ofFile, ...given, ...ofPerson].map((each) => [each.key, each] as const);
  return [...new Map(byKey).values()];
}

const isAboutMergeRequest = (key: string) => key.startsWith('CI_MERGE_REQUEST_') || key === 'CI_OPEN_MERGE_REQUESTS';

/** What a child is made for: the same as its parent. */
async function askedForChild(
  { db, blobs }: Services,
  { project, caller }: Acting,
  { upstream }: ReadyBridge,
  content: string,
): Promise<Omit<Asked, 'variables'>> {
  const { id: parent_id, ref, tag, sha, before_sha, is_protected, merge_request_id: id, predefined } = upstream;
  const built = refOfPipeline(upstream);
  const branches = {
    source_branch: built.name,
    target_branch: predefined.CI_MERGE_REQUEST_TARGET_BRANCH_NAME ?? '',
    is_within: is_protected,
  };
  return {
    source: 'parent_pipeline',
    ref: built.type === 'merge_request' ? ref : `refs/${tag ? 'tags' : 'heads'}/${ref}`,
    sha,
    ...(before_sha !== null && { before_sha }),
    predefined: Object.fromEntries(Object.entries(predefined).filter(([key]) => isAboutMergeRequest(key))),
    ...(built.type === 'merge_request' && {
      about: {
        ...{ id, source_branch: built.name, base: predefined.CI_MERGE_REQUEST_DIFF_BASE_SHA ?? null },
        rights: await rightsBetween(db, project, caller, branches),
      },
    }),
    started_by: {
      tree_id: upstream.tree_id ?? parent_id,
      child: { parent_id, ref: built, content, artifact: artifactReader({ db, blobs }, parent_id) },
    },
  };
}

async function planned(services: Services, acting: Acting, bridge: ReadyBridge, asked: Asked): Promise<Outcome> {
  const plan = await planPipeline(services, acting, asked);
  const toStore = storable(plan);
  if (toStore) return { ...toStore, tree_id: bridge.upstream.tree_id ?? bridge.upstream.id };
  return failed(
    'why' in plan && plan.why === 'refused' ? 'insufficient_bridge_permissions' : 'downstream_pipeline_creation_failed',
  );
}

/** The newest pipeline of the default branch of a project. */
async function foundIn(services: Services, caller: Caller, full_path: string): Promise<Outcome> {
  const project = await visibleProject(services, caller, full_path);
  const isReadable =
    project && mayUse(project, 'repository') && mayUse(project, 'builds') && project.access_level >= levels.reporter;
  const id = isReadable && (await newestOf(services.db, { project_id: project.id, ref: project.default_branch }));
  return id ? { takes: id } : failed('downstream_bridge_project_not_found');
}

/**
 * Decides what a bridge starts, in the name of whoever runs it and with the rights that they have now.
 * @throws TooMuchWaiting
 */
export async function planBridge(services: Services, ready: ReadyBridge): Promise<Outcome> {
  const known = await valuesAtEnd(services, ready);
  if (!known || !mayStartIn(known.project)) return failed('insufficient_bridge_permissions');
  if (await isOutdated(services.db, ready.id)) return failed('forward_deployment_failure');
  const { caller, project: own, values } = known;
  const started = startedBy(ready.bridge, ready.given, values);
  if (!started) return failed('downstream_pipeline_creation_failed');
  const { target, inputs } = started;
  if (target.type === 'upstream') return foundIn(services, caller, target.project);
  const limit = limitOf(await ancestorsOf(services.db, ready.pipeline_id), target.type === 'child');
  if (limit) return failed(limit);
  const variables = await forwarded(services, ready, started.variables);
  if (target.type === 'child') {
    const asked = await askedForChild(services, { project: own, caller }, ready, target.configuration);
    return planned(services, { project: own, caller }, ready, { ...asked, variables });
  }
  if (target.project === '') return failed('invalid_bridge_trigger');
  const project = await visibleProject(services, caller, target.project);
  if (!project) return failed('downstream_bridge_project_not_found');
  if (!mayStartIn(project)) return failed('insufficient_bridge_permissions');
  return planned(services, { project, caller }, ready, {
    ...{ source: 'pipeline', ref: target.branch || project.default_branch, variables },
    ...(Object.keys(inputs).length > 0 && { inputs }),
    started_by: { tree_id: ready.upstream.tree_id ?? ready.upstream.id },
  });
}
