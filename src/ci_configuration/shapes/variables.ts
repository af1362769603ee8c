/** The shape of `variables`, at the root, in jobs, rules and services. */

import type { Variable } from '../types.ts';
import { isMapping, type Mapping, type Value } from '../values.ts';
import { attribute, boolean, type Place, parsed, type Shape, texts } from './shape.ts';

const name = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** A value that can be one of a variable, as text. */
export const scalarText = (value: Value | undefined): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;

const scalar: Shape<string> = (value, at) => scalarText(value) ?? at.fault('must be an alphanumeric string');

const members = {
  value: attribute(scalar),
  description: attribute(scalar),
  options: attribute(texts),
  expand: attribute(boolean),
};
const keysOfJobs = ['value', 'expand'];
const keysOfRoot = Object.keys(members);

function detailed(key: string, given: Mapping, keys: readonly string[], at: Place): Variable {
  const unknown = [...given.keys()].filter((each) => !keys.includes(each));
  if (unknown.length > 0) at.fault(`uses invalid data keys: ${unknown.join(', ')}`);
  const { value = '', description, options, expand = true } = parsed(given, members, at);
  if (options && !options.includes(value)) at.fault('value must be present in options');
  return { key, value, expand, ...(description !== undefined && { description }), ...(options && { options }) };
}

const variablesWith =
  (keys: readonly string[]): Shape<readonly Variable[]> =>
  (value, at) => {
    if (!isMapping(value)) return at.fault('should be a hash');
    const variables: Variable[] = [];
    for (const [key, given] of value) {
      const place = at.entry(key);
      const plain = scalarText(given);
      if (!name.test(key))
        place.bare.warn('is left out: a variable is named by letters, digits and _, and does not begin with a digit');
      else if (plain !== undefined) variables.push({ key, value: plain, expand: true });
      else if (isMapping(given)) variables.push(detailed(key, given, keys, place));
      else place.bare.fault('variable definition must be either a string or a hash');
    }
    return variables;
  };

export const jobVariables = variablesWith(keysOfJobs);
export const rootVariables = variablesWith(keysOfRoot);
