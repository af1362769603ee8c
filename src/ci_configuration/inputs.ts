/** The header of a file, `spec:inputs`, and what `$[[ inputs.name ]]` in its content becomes. */
import { compiled } from '../expressions/compiling.ts';
import { InvalidExpression } from '../expressions/matching.ts';
import { expand, type Variables } from './expansion.ts';
import { Invalid, isList, isMapping, type Mapping, Reference, textOf, tooBig, type Value } from './values.ts';
import type { Documents } from './yaml.ts';

const maximumOptions = 50;
const maximumBlocks = 1_000;
const maximumText_chars = 1024 * 1024;
const maximumFunctions = 3;
/** Of all texts of one file after their blocks are replaced. */
const maximumContent_chars = 20 * 1024 * 1024;

const types = ['string', 'number', 'boolean', 'array'] as const;
const specKeys = ['default', 'description', 'options', 'regex', 'type'];

const isOfType = (value: Value, type: Value): boolean => (type === 'array' ? isList(value) : typeof value === type);

/** The declarations of a header, by name. */
function declaredIn(header: Value): Mapping {
  if (!isMapping(header) || !header.has('spec')) throw new Invalid('Invalid configuration format');
  refuseUnknown(header, ['spec'], 'header');
  const spec = header.get('spec') ?? new Map();
  if (!isMapping(spec)) throw new Invalid('header:spec config should be a hash');
  refuseUnknown(spec, ['inputs'], 'header:spec');
  const inputs = spec.get('inputs') ?? new Map();
  if (!isMapping(inputs)) throw new Invalid('header:spec:inputs config should be a hash');
  return inputs;
}

function refuseUnknown(given: Mapping, known: readonly string[], location: string): void {
  const unknown = [...given.keys()].filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Invalid(`${location} config contains unknown keys: ${unknown.join(', ')}`);
}

/** Checks one declaration, and takes the value that is given for it or its default. */
function inputValue(name: string, declaration: Value, given: Mapping): Value {
  const about: Mapping = isMapping(declaration) ? declaration : new Map();
  const location = `header:spec:inputs:${name}`;
  if (declaration !== null && !isMapping(declaration)) throw new Invalid(`${location} config should be a hash`);
  refuseUnknown(about, specKeys, location);
  const type = about.get('type') ?? 'string';
  if (!types.some((each) => each === type)) throw new Invalid(`${location} input type unknown value: ${textOf(type)}`);
  const options = about.get('options') ?? null;
  if (options !== null && !isList(options)) throw new Invalid(`${location} options should be an array`);
  if (isList(options) && options.length > maximumOptions)
    throw new Invalid(`${location} config cannot define more than ${maximumOptions} options`);
  const [value, word] = given.has(name) ? [given.get(name), 'provided'] : [about.get('default'), 'default'];
  const wrong = (text: string) => new Invalid(`\`${name}\` input: ${text}`);
  if (value === undefined) throw wrong('required value has not been provided');
  if (!isOfType(value, type)) throw wrong(`${word} value is not a ${type}`);
  if (isList(options) && !options.includes(value))
    throw wrong(`\`${String(value)}\` cannot be used because it is not in the list of allowed options`);
  if (!isMatch(value, about.get('regex') ?? null, location))
    throw wrong(`${word} value does not match required RegEx pattern`);
  return value;
}

function isMatch(value: Value, regex: Value, location: string): boolean {
  if (regex === null || typeof value !== 'string') return true;
  try {
    if (typeof regex === 'string' && regex.length <= 1_000) return compiled({ source: regex }).test(value);
  } catch (error) {
    if (!(error instanceof InvalidExpression)) throw error;
  }
  throw new Invalid(`${location} regex must be a regular expression with re2 syntax`);
}

/**
 * A text with the values of variables in it.
 * @throws Invalid if that could be too large
 */
export function expandWithin(text: string, variables: Variables): string {
  const signs = text.match(/[$%]/g)?.length ?? 0;
  if (signs === 0) return text;
  const longest_chars = variables.values().reduce((longest, { value }) => Math.max(longest, value.length), 0);
  if (text.length + signs * longest_chars > maximumContent_chars) throw new Invalid(tooBig);
  return expand(text, variables);
}

const problem = (text: string) => new Invalid(`interpolation interrupted by errors, ${text}`);

/** Replaces the blocks in the texts of one file. */
class Interpolation {
  readonly #inputs: Mapping;
  readonly #variables: Variables;
  /** Collections that stand in several places. */
  readonly #known = new Map<Value, Value>();
  #written_chars = 0;

  constructor(inputs: Mapping, variables: Variables) {
    this.#inputs = inputs;
    this.#variables = variables;
  }

  value(value: Value): Value {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const result = this.#collection(value);
    this.#known.set(value, result);
    return result;
  }

  #collection(value: readonly Value[] | Mapping | Reference): Value {
    if (value instanceof Reference) return new Reference(value.path.map((step) => this.value(step)));
    if (isMapping(value))
      return new Map([...value].map(([key, member]) => [plainText(this.#text(key)), this.value(member)]));
    // A list in a list is not what the author of `- $[[ inputs.list ]]` meant.
    return value.flatMap((item) => (isBlock(item) ? this.value(item) : [this.value(item)])) as Value[];
  }

  #text(text: string): Value {
    if (!text.includes('$[[')) return text;
    if (text.length > maximumText_chars) throw new Invalid('too many interpolation blocks');
    const parts: Value[] = [];
    let at = 0;
    for (let start = text.indexOf('$[['); start !== -1; start = text.indexOf('$[[', at)) {
      const end = text.indexOf(']]', start);
      if (end === -1) break;
      if (parts.length >= 2 * maximumBlocks) throw new Invalid('too many interpolation blocks');
      parts.push(text.slice(at, start), this.#block(text.slice(start + 3, end).trim()));
      at = end + 2;
    }
    if (at === text.length && parts.length === 2 && parts[0] === '') return parts[1]!;
    const written = parts.map(plainText).join('') + text.slice(at);
    this.#written_chars += written.length;
    if (this.#written_chars > maximumContent_chars) throw new Invalid(tooBig);
    return written;
  }

  #block(block: string): Value {
    const [access = '', ...functions] = block.split('|').map((part) => part.trim());
    const [, name] = /^inputs\.([\w-]+)$/.exec(access) ?? [];
    const value = name === undefined ? undefined : this.#inputs.get(name);
    if (value === undefined) throw problem(`unknown interpolation key: \`${name ?? access}\``);
    if (functions.length > maximumFunctions) throw problem('too many functions in interpolation block');
    return functions.reduce<Value>((before, written) => this.#apply(written, before), value);
  }

  #apply(written: string, value: Value): Value {
    if (typeof value === 'string') {
      if (written === 'expand_vars') return expandWithin(value, this.#variables);
      const [, from, length] = /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(written) ?? [];
      if (from !== undefined) return value.slice(Number(from), Number(from) + Number(length)).toWellFormed();
    }
    throw problem(
      `no function matching \`${written}\`: check that the function name, arguments, and types are correct`,
    );
  }
}

const plainText = (value: Value): string => (typeof value === 'string' ? value : textOf(value));

const isBlock = (item: Value): boolean =>
  typeof item === 'string' && item.startsWith('$[[') && item.indexOf(']]') === item.length - 2;

/**
 * The content of a file with its inputs in it.
 * @param given values for inputs
 * @param variables for `expand_vars`
 * @returns what the content is, of whatever shape
 * @throws Invalid
 */
export function withInputs({ documents }: Documents, given: Mapping, variables: Variables): Value {
  if (documents.length > 2) throw new Invalid('Invalid configuration format');
  const [header, body] = documents.length === 2 ? documents : [undefined, documents[0]];
  const declared = header ? declaredIn(header.value) : new Map<string, Value>();
  const values = new Map([...declared].map(([name, declaration]) => [name, inputValue(name, declaration, given)]));
  const unknown = [...given.keys()].filter((name) => !declared.has(name));
  if (unknown.length > 0) throw new Invalid(`unknown input arguments: ${unknown.join(', ')}`);
  const content = body?.value ?? null;
  return header ? new Interpolation(values, variables).value(content) : content;
}
