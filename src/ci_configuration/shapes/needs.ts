/** The shapes of what ties jobs to others: `needs`, `parallel` and `trigger`. */
import type { Bridge, Downstream, Need } from '../types.ts';
import { isList, isMapping, type Mapping, plainOf, type Value } from '../values.ts';
import { childIncludes } from './includes.ts';
import {
  attribute,
  boolean,
  entry,
  filledText,
  mapped,
  mappingOr,
  oneOf,
  type Place,
  record,
  requiring,
  type Shape,
  text,
} from './shape.ts';
import { scalarText } from './variables.ts';

/** The most jobs that one can become. */
const maximumParallel = 200;

/** A mapping of a matrix: its keys in order, each with the values that it takes. */
export type Combination = readonly (readonly [key: string, values: readonly string[]])[];
export type Matrix = readonly Combination[];

/** How often a job is there. */
export type Parallel = { total: number } | { matrix: Matrix };

/** A need as it is written: of a job that may become several, of which `matrix` means some; or of a pipeline, whose status a bridge takes. */
export type WrittenNeed =
  | { type: 'job'; job: string; artifacts: boolean; optional: boolean; matrix?: Matrix }
  | Exclude<Need, { type: 'job' }>
  | { type: 'bridge'; pipeline: string };

const sizeOf = (matrix: Matrix): number =>
  matrix.reduce((total, keys) => total + keys.reduce((product, [, values]) => product * values.length, 1), 0);

function combinationOf(given: Mapping, at: Place): Combination | undefined {
  const keys: (readonly [string, readonly string[]])[] = [];
  for (const [key, value] of given) {
    const values = (isList(value) ? value : [value]).map(scalarText);
    if (values.length === 0 || !values.every((each) => each !== undefined))
      return at.fault(`${key} should be a string or an array of strings`);
    keys.push([key, values]);
  }
  return keys;
}

const matrix: Shape<Matrix> = (value, at) => {
  if (!isList(value) || !value.every(isMapping)) return at.fault('should be an array of hashes');
  if (value.length === 0 || value.some(({ size }) => size === 0)) return at.fault("can't be blank");
  const read = value.map((given) => combinationOf(given, at));
  if (!read.every((each) => each !== undefined)) return undefined;
  return sizeOf(read) > maximumParallel ? at.fault(`generates too many jobs (maximum is ${maximumParallel})`) : read;
};

const matrixOnly: Shape<{ matrix: Matrix }> = mapped(
  requiring(['matrix'], record({ matrix: entry(matrix) })),
  (read) => read.matrix && { matrix: read.matrix },
);

const count: Shape<{ total: number }> = (value, at) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return at.bare.fault('should be an integer or a hash');
  if (value < 1) return at.fault('must be greater than or equal to 1');
  return value > maximumParallel ? at.fault(`must be less than or equal to ${maximumParallel}`) : { total: value };
};

export const parallel: Shape<Parallel> = mappingOr(matrixOnly, count);

const [name, artifacts] = [attribute(filledText), attribute(boolean)];

const jobNeed: Shape<WrittenNeed> = mapped(
  record({ job: name, artifacts, optional: attribute(boolean), parallel: entry(matrixOnly) }, ['job']),
  ({ job, artifacts = true, optional = false, parallel }) =>
    job === undefined ? undefined : { type: 'job', job, artifacts, optional, ...parallel },
);

const pipelineNeed: Shape<WrittenNeed> = mapped(
  record({ pipeline: name, job: name, artifacts }, ['pipeline', 'job']),
  ({ pipeline, job, artifacts = true }) =>
    pipeline === undefined || job === undefined ? undefined : { type: 'pipeline', pipeline, job, artifacts },
);

const projectNeed: Shape<WrittenNeed> = mapped(
  record({ project: name, job: name, ref: name, artifacts }, ['project', 'job', 'ref']),
  ({ project, job, ref, artifacts = true }) =>
    project === undefined || job === undefined || ref === undefined
      ? undefined
      : { type: 'project', project, job, ref, artifacts },
);

const bridgeNeed: Shape<WrittenNeed> = mapped(record({ pipeline: name }, ['pipeline']), ({ pipeline }) =>
  pipeline === undefined ? undefined : { type: 'bridge', pipeline },
);

const need: Shape<WrittenNeed> = (value, at) => {
  if (typeof value === 'string') return { type: 'job', job: value, artifacts: true, optional: false };
  if (!isMapping(value)) return at.bare.fault('has an unsupported type');
  if (value.has('project')) return projectNeed(value, at);
  if (value.has('pipeline')) return (value.has('job') ? pipelineNeed : bridgeNeed)(value, at);
  return value.has('job') ? jobNeed(value, at) : at.bare.fault('has an unsupported type');
};

export const needs: Shape<readonly WrittenNeed[]> = (value, at) => {
  if (!isList(value) && !isMapping(value)) return at.fault('can only be a hash or an array');
  return (isList(value) ? value : [value]).flatMap((item) => need(item, at.entry('need')) ?? []);
};

export type Trigger = Pick<
  Bridge,
  'strategy' | 'forwards_yaml_variables' | 'forwards_pipeline_variables' | 'inputs'
> & { downstream: Downstream };

/** A mapping that goes to the other pipeline as it is. */
const inputs: Shape<Readonly<Record<string, unknown>>> = (value: Value, at) =>
  isMapping(value) ? (plainOf(value) as Record<string, unknown>) : at.fault('should be a hash');

const members = {
  strategy: attribute(oneOf(['depend', 'mirror'], 'should be depend or mirror')),
  forward: entry(record({ yaml_variables: attribute(boolean), pipeline_variables: attribute(boolean) })),
  inputs: attribute(inputs),
};

const childTrigger = record({ ...members, include: entry(childIncludes) }, ['include']);
const projectTrigger = record({ ...members, project: name, branch: attribute(text) }, ['project']);

const projectPath: Shape<{ project: string }> = (value, at) => {
  if (typeof value !== 'string') return at.bare.fault('has to be either a string or a hash');
  const project = filledText(value, at);
  return project === undefined ? undefined : { project };
};

interface Given {
  strategy?: 'depend' | 'mirror';
  forward?: { yaml_variables?: boolean; pipeline_variables?: boolean };
  inputs?: Readonly<Record<string, unknown>>;
  project?: string;
  branch?: string;
  include?: readonly unknown[];
}

function downstreamOf({ project, branch, include }: Given): Downstream | undefined {
  if (include) return { type: 'child', include };
  return project === undefined ? undefined : { type: 'project', project, branch };
}

export const trigger: Shape<Trigger> = mapped(
  (value: Value, at: Place): Given | undefined => {
    if (!isMapping(value)) return projectPath(value, at);
    return value.has('include') ? childTrigger(value, at) : projectTrigger(value, at);
  },
  (given) => {
    const downstream = downstreamOf(given);
    return (
      downstream && {
        downstream,
        strategy: given.strategy,
        forwards_yaml_variables: given.forward?.yaml_variables ?? true,
        forwards_pipeline_variables: given.forward?.pipeline_variables ?? false,
        inputs: given.inputs ?? {},
      }
    );
  },
);
