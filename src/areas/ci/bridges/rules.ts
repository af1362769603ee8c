/** What bridges start, and in which state they are (docs/reference/pipelines.md#bridges). Pure functions. */
import {
  type Bridge,
  type CiVariable,
  ExpansionError,
  expanded,
  expandWithin,
  Invalid,
  type Variables,
} from '../../../ci_configuration/index.ts';
import { isFinal, type State } from '../../code/pipelines/index.ts';

/** What a bridge starts or looks at, with the values of variables in its texts. */
export interface Started {
  /** A blank name is one of no project. */
  target:
    | { type: 'project'; project: string; branch: string | undefined }
    | { type: 'child'; configuration: string }
    | { type: 'upstream'; project: string };
  inputs: Readonly<Record<string, unknown>>;
  /** The variables of the configuration that are handed on. */
  variables: CiVariable[];
}

/** A value with its texts replaced, but for rules: these have expressions of their own. */
function replaced(value: unknown, text: (written: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((each) => replaced(each, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, key === 'rules' ? each : replaced(each, text)]),
  );
}

/** The texts of a configuration are looked at once more. */
const asText = (value: string) => value.replaceAll('$', '$$$$');

const isUrl = (text: string) => /^https?:\/\//i.test(text);

/** The configuration of a child: its includes, each with the inputs of the bridge. */
function configurationOf(include: readonly unknown[], inputs: Started['inputs']): string {
  const items = include.map((item) => {
    const written = typeof item === 'string' ? { [isUrl(item) ? 'remote' : 'local']: item } : (item as object);
    const own = 'inputs' in written ? (written.inputs as object) : {};
    return Object.keys(inputs).length === 0 ? written : { ...written, inputs: { ...inputs, ...own } };
  });
  return JSON.stringify({ include: items });
}

/** The values of the variables that the configuration gives the bridge, as they are in it. @throws ExpansionError */
function handedOn(own: readonly CiVariable[], values: Variables): CiVariable[] {
  const known = [...values.values()].map((each): [string, CiVariable] => [each.key, { ...each, raw: true }]);
  const all = expanded(new Map([...known, ...own.map((each): [string, CiVariable] => [each.key, each])]));
  return own.map(({ key }) => ({ key, value: all.get(key)!.value, raw: true }));
}

/**
 * What a bridge starts.
 * @param own the variables that the configuration gives it
 * @param values all variables of the bridge
 * @returns undefined if variables need each other, or make it too large
 */
export function startedBy(bridge: Bridge, own: readonly CiVariable[], values: Variables): Started | undefined {
  const { upstream, downstream, forwards_yaml_variables } = bridge;
  try {
    const variables = forwards_yaml_variables ? handedOn(own, values) : [];
    const expansion = (written: string) => expandWithin(written, values);
    const text = (written: string) => expansion(written).trim();
    const inputs = replaced(bridge.inputs, expansion) as Started['inputs'];
    if (upstream !== undefined) return { target: { type: 'upstream', project: text(upstream) }, inputs, variables };
    if (downstream?.type === 'child') {
      const inText = (value: unknown) => replaced(value, (written) => asText(expansion(written)));
      const include = inText(downstream.include) as readonly unknown[];
      const configuration = configurationOf(include, inText(bridge.inputs) as Started['inputs']);
      return { target: { type: 'child', configuration }, inputs: {}, variables };
    }
    const { project = '', branch } = downstream ?? {};
    return {
      target: { type: 'project', project: text(project), branch: branch === undefined ? undefined : text(branch) },
      inputs,
      variables,
    };
  } catch (error) {
    if (error instanceof Invalid || error instanceof ExpansionError) return undefined;
    throw error;
  }
}

/** Why a bridge has failed. */
export type BridgeFailure =
  | ('downstream_bridge_project_not_found' | 'insufficient_bridge_permissions' | 'invalid_bridge_trigger')
  | ('downstream_pipeline_creation_failed' | 'reached_max_descendant_pipelines_depth')
  | (
      | 'reached_max_pipeline_hierarchy_size'
      | 'pipeline_loop_detected'
      | 'unknown_failure'
      | 'forward_deployment_failure'
    );

/** The state of a bridge that waits for a pipeline; null stands for one that is gone. */
export function stateOfWaiting(pipeline: State | null): { status: State; reason: BridgeFailure | null } {
  if (pipeline === null) return { status: 'failed', reason: 'downstream_bridge_project_not_found' };
  if (!isFinal(pipeline)) return { status: 'running', reason: null };
  return { status: pipeline, reason: pipeline === 'failed' ? 'unknown_failure' : null };
}

/** A pipeline that others were started by. */
export interface Ancestor {
  id: number;
  project_id: number;
  ref: string;
  source: string;
}

/** The most parents above a child. */
const mostDepth = 2;
/** The most pipelines of a tree. */
export const mostInTree = 1_000;
/** How often a pipeline of one project, ref and source may be above another one. */
const mostRounds = 2;

/**
 * Why nothing may be started below a pipeline.
 * @param above the pipeline and those that it follows from, itself first
 */
export function limitOf(above: readonly Ancestor[], startsChild: boolean): BridgeFailure | undefined {
  if (!startsChild) {
    const rounds = Map.groupBy(
      above.filter(({ source }) => source !== 'parent_pipeline'),
      ({ project_id, ref, source }) => JSON.stringify([project_id, ref, source]),
    );
    return [...rounds.values()].some(({ length }) => length > mostRounds) ? 'pipeline_loop_detected' : undefined;
  }
  const parents = above.findIndex(({ source }) => source !== 'parent_pipeline');
  return parents >= mostDepth ? 'reached_max_descendant_pipelines_depth' : undefined;
}
