/** The options of a push that are about pipelines (docs/reference/pipelines.md#push-options). Pure functions. */
import { mostVariables, variableKey } from './parameters.ts';
import type { GivenVariable } from './store_actions.ts';

/** What the options of a push say about its pipelines. */
export interface PushOptions {
  /** Whether none of the jobs are to run. */
  skips: boolean;
  variables: GivenVariable[];
  inputs: Record<string, unknown>;
  /** Sentences about options that have no effect. */
  ignored: string[];
}

/** The most characters of a value. */
const mostCharacters = 100_000;

const literals: Readonly<Record<string, unknown>> = { true: true, false: false };

/** A value of an input as JSON would have it, if it is a number or a boolean. */
const inputValue = (text: string): unknown => literals[text] ?? (/^-?\d{1,15}$/.test(text) ? Number(text) : text);

/** The two sides of `NAME=VALUE`, perhaps in quotes. */
function pairIn(text: string): [string, string] | undefined {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text.replace(/^"(.*)"$/s, '$1')) ?? [];
  return name === undefined || value === undefined || value.length > mostCharacters ? undefined : [name, value];
}

/** @param options as git hands them over; those that do not begin with `ci.` are for others */
export function readOptions(options: readonly string[]): PushOptions {
  const read: PushOptions = { skips: false, variables: [], inputs: {}, ignored: [] };
  for (const option of options.filter((each) => each.startsWith('ci.'))) {
    const [, name = '', text = ''] = /^([^=]*)=?(.*)$/s.exec(option) ?? [];
    const pair = pairIn(text);
    const isNew = read.variables.length < mostVariables && read.variables.every(({ key }) => key !== pair?.[0]);
    if (name === 'ci.skip') read.skips = true;
    else if (name === 'ci.variable' && pair && isNew && variableKey.test(pair[0]) && pair[0].length <= 255)
      read.variables.push({ key: pair[0], value: pair[1], variable_type: 'env_var' });
    else if (name === 'ci.input' && pair) read.inputs[pair[0]] = inputValue(pair[1]);
    else read.ignored.push(`The push option ${name.slice(0, 255)} has no effect.`);
  }
  return read;
}
