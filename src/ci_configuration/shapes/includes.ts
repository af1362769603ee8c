/** The shape of `include`, at the root and in `trigger`. */
import { isList, isMapping, type Mapping, plainOf, textOf, type Value } from '../values.ts';
import type { Shape } from './shape.ts';

const maximumChildIncludes = 3;

const kinds = ['local', 'project', 'remote', 'component', 'template', 'artifact'] as const;
const kindList = kinds.map((kind) => `\`${kind}\``).join(', ');
const others: Readonly<Record<string, readonly string[]>> = {
  project: ['file', 'ref'],
  artifact: ['job'],
};

/** What an include names: files of one kind. `inputs` are as they are written. */
export type WrittenInclude = { inputs?: Value } & (
  | { type: 'local'; path: string }
  | { type: 'project'; project: string; ref?: string; paths: readonly string[] }
  | { type: 'remote'; url: string }
  | { type: 'artifact'; job: string; path: string }
);

/** An include that is wrong, and why. */
export interface WrongInclude {
  problem: string;
}

const wrong = (problem: string): WrongInclude => ({ problem });
/** A variable that is still there, in an include of a child pipeline, may bring the ending. */
const isExtended = (path: string) => /.\.ya?ml$/i.test(path) || path.includes('$');

/** Why a path or an address cannot be included; undefined if it can. */
function problemOf(given: Value): string | undefined {
  if (typeof given !== 'string') return `Included file \`${textOf(given)}\` needs to be a string`;
  return isExtended(given) ? undefined : `Included file \`${given}\` does not have YAML extension!`;
}

function includeOf(kind: (typeof kinds)[number], given: Mapping): WrittenInclude | WrongInclude {
  const value = given.get(kind) ?? null;
  if (kind === 'component') return wrong('include:component is not supported');
  if (kind === 'template')
    return wrong(`Included file \`${typeof value === 'string' ? value : textOf(value)}\` is empty or does not exist!`);
  if (kind === 'project') return projectInclude(given, value);
  const problem = problemOf(value);
  if (problem !== undefined) return wrong(problem);
  const location = value as string;
  if (kind === 'local') return { type: 'local', path: location };
  if (kind === 'remote') return { type: 'remote', url: location };
  const job = given.get('job') ?? null;
  if (job === null) return wrong('include config must specify the job where to fetch the artifact from');
  return typeof job === 'string'
    ? { type: 'artifact', job, path: location }
    : wrong(`Included file \`${location}\` needs a job that is a string`);
}

function projectInclude(given: Mapping, project: Value): WrittenInclude | WrongInclude {
  const file = given.get('file') ?? null;
  if (file === null) return wrong('include config must specify the file where to fetch the config from');
  const paths = isList(file) ? file : [file];
  for (const path of paths) {
    const problem = problemOf(path);
    if (problem !== undefined) return wrong(problem);
  }
  const ref = given.get('ref') ?? undefined;
  for (const part of [project, ref])
    if (part !== undefined && typeof part !== 'string')
      return wrong(`Included file \`${textOf(part)}\` needs to be a string`);
  return {
    type: 'project',
    project: project as string,
    ref: ref as string | undefined,
    paths: paths as readonly string[],
  };
}

/** An include, as a mapping or as the text that stands for one. */
export function writtenInclude(item: Value): WrittenInclude | WrongInclude {
  if (typeof item === 'string') {
    const isUrl = /^https?:\/\//i.test(item);
    return writtenInclude(new Map([[isUrl ? 'remote' : 'local', item]]));
  }
  const named = isMapping(item) ? kinds.filter((kind) => (item.get(kind) ?? null) !== null) : [];
  const [kind] = named;
  if (!isMapping(item) || kind === undefined)
    return wrong(`\`${textOf(item)}\` does not have a valid subkey for include. Valid subkeys are: ${kindList}`);
  if (named.length > 1) return wrong(`Each include must use only one of: ${kindList}`);
  const known = [kind, ...(others[kind] ?? []), 'rules', 'inputs'];
  const unknown = [...item.keys()].filter((key) => !known.includes(key));
  if (unknown.length > 0) return wrong(`include config contains unknown keys: ${unknown.join(', ')}`);
  const found = includeOf(kind, item);
  if ('problem' in found) return found;
  return { ...found, inputs: item.get('inputs') ?? undefined };
}

/** `trigger:include`, whose files are read when the child pipeline is compiled. */
export const childIncludes: Shape<readonly unknown[]> = (value, at) => {
  const items = isList(value) ? value : [value];
  if (items.length > maximumChildIncludes) return at.fault(`is too long (maximum is ${maximumChildIncludes})`);
  for (const item of items) {
    const read = writtenInclude(item);
    if ('problem' in read) at.bare.fault(read.problem.replace(/^include /, ''));
  }
  return items.map(plainOf);
};
