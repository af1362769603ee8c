/**
 * Shapes: what a value has to be, and what it becomes. A shape reports what is wrong with a value to the place where the value is, and returns undefined then.
 */
import { durationOf } from '../durations.ts';
import { isList, isMapping, type Mapping, type Value } from '../values.ts';

/** What was found wrong. */
export interface Findings {
  errors: string[];
  warnings: string[];
}

/** Where a value is, as errors have it: `jobs:test:cache`, then `config`, the name of an attribute, or nothing. */
export class Place {
  readonly #findings: Findings;
  readonly location: string;
  readonly #label: string;
  /** As an attribute of the value around it. */
  readonly asAttribute: Place;

  constructor(findings: Findings, location: string, label = 'config', asAttribute?: Place) {
    this.#findings = findings;
    this.location = location;
    this.#label = label;
    this.asAttribute = asAttribute ?? this;
  }

  #said(text: string): string {
    return [this.location, this.#label, text].filter((part) => part !== '').join(' ');
  }

  /** Reports an error of the value here. */
  fault(text: string): undefined {
    this.#findings.errors.push(this.#said(text));
  }

  warn(text: string): void {
    this.#findings.warnings.push(this.#said(text));
  }

  /** A value that is spoken of by its own location: `jobs:test:cache config …`. */
  entry(key: string): Place {
    const location = this.location === '' ? key : `${this.location}:${key}`;
    return new Place(this.#findings, location, 'config', this.attribute(key));
  }

  /** A value that is spoken of as part of the one around it: `jobs:test:artifacts expire in …`. */
  attribute(key: string): Place {
    return new Place(this.#findings, this.location, key.replaceAll('_', ' '));
  }

  /** The same location, without a name after it. */
  get bare(): Place {
    return new Place(this.#findings, this.location, '');
  }
}

export type Shape<T> = (value: Value, at: Place) => T | undefined;

/** How errors speak of a member of a mapping. */
type Manner = 'entry' | 'attribute';

interface Member<T> {
  manner: Manner;
  shape: Shape<T>;
}

export const entry = <T>(shape: Shape<T>): Member<T> => ({ manner: 'entry', shape });
export const attribute = <T>(shape: Shape<T>): Member<T> => ({ manner: 'attribute', shape });

export type Members = Readonly<Record<string, Member<unknown>>>;
/** What a mapping with these members becomes; what is not given, null or wrong is left out. */
export type Parsed<M extends Members> = { -readonly [K in keyof M]?: M[K] extends Member<infer T> ? T : never };

/** Reports keys of a mapping that are not among the known ones. */
export function reportUnknown(value: Mapping, known: (key: string) => boolean, at: Place): void {
  const unknown = [...value.keys()].filter((key) => !known(key));
  if (unknown.length > 0) at.fault(`contains unknown keys: ${unknown.join(', ')}`);
}

/** The members of a mapping, each by its shape. Keys without a shape are not looked at. */
export function parsed<M extends Members>(value: Mapping, members: M, at: Place): Parsed<M> {
  const result: Record<string, unknown> = {};
  for (const [key, { manner, shape }] of Object.entries(members)) {
    const member = value.get(key) ?? null;
    if (member === null) continue;
    const read = shape(member, at[manner](key));
    if (read !== undefined) result[key] = read;
  }
  return result as Parsed<M>;
}

/**
 * A mapping with certain members and no others.
 * @param required the members that it must have
 */
export const record =
  <M extends Members>(members: M, required: readonly (keyof M & string)[] = []): Shape<Parsed<M>> =>
  (value, at) => {
    if (!isMapping(value)) return at.fault('should be a hash');
    reportUnknown(value, (key) => Object.hasOwn(members, key), at);
    const missing = required.filter((key) => (value.get(key) ?? null) === null);
    for (const key of missing) at.attribute(key).fault("can't be blank");
    const read = parsed(value, members, at);
    return missing.length === 0 ? read : undefined;
  };

/** A mapping that is refused as a whole without certain keys. */
export const requiring =
  <T>(keys: readonly string[], shape: Shape<T>): Shape<T> =>
  (value, at) => {
    const missing = isMapping(value) ? keys.filter((key) => (value.get(key) ?? null) === null) : [];
    return missing.length > 0 ? at.fault(`missing required keys: ${missing.join(', ')}`) : shape(value, at);
  };

/** A mapping has one shape, every other value another. */
export const mappingOr =
  <T, U>(mapping: Shape<T>, other: Shape<U>): Shape<T | U> =>
  (value, at) =>
    isMapping(value) ? mapping(value, at) : other(value, at);

/** Goes on with what another shape has read; undefined stays undefined. */
export const mapped =
  <T, U>(shape: Shape<T>, next: (read: T, at: Place) => U | undefined): Shape<U> =>
  (value, at) => {
    const read = shape(value, at);
    return read === undefined ? undefined : next(read, at);
  };

export const text: Shape<string> = (value, at) => (typeof value === 'string' ? value : at.fault('should be a string'));

export const filledText: Shape<string> = mapped(text, (read, at) =>
  read.trim() === '' ? at.fault("can't be blank") : read,
);

export const textOfAtMost = (maximum: number): Shape<string> =>
  mapped(text, (read, at) =>
    read.length > maximum ? at.fault(`is too long (maximum is ${maximum} characters)`) : read,
  );

const words: Readonly<Record<string, boolean>> = { yes: true, on: true, no: false, off: false };

/** Older parsers of YAML read `yes`, `no`, `on` and `off` as booleans, and files rely on it. */
const booleanOf = (value: Value): boolean | undefined => {
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined;
};

export const boolean: Shape<boolean> = (value, at) => booleanOf(value) ?? at.fault('should be a boolean value');

/** One shape for booleans, another for everything else. */
export const booleanOr =
  <T>(shape: Shape<T>): Shape<boolean | T> =>
  (value, at) =>
    booleanOf(value) ?? shape(value, at);

/** One of several words. */
export const oneOf =
  <const W extends string>(allowed: readonly W[], refusal = `should be one of: ${allowed.join(', ')}`): Shape<W> =>
  (value, at) =>
    allowed.find((word) => word === value) ?? at.fault(refusal);

export const texts: Shape<readonly string[]> = (value, at) =>
  isList(value) && value.every((item) => typeof item === 'string') ? value : at.fault('should be an array of strings');

export const textOrTexts: Shape<readonly string[]> = (value, at) => {
  if (typeof value === 'string') return [value];
  const isTexts = isList(value) && value.every((item) => typeof item === 'string');
  return isTexts ? value : at.fault('should be an array of strings or a string');
};

/** A text that is a duration, as it was written. */
export const duration: Shape<string> = (value, at) =>
  typeof value === 'string' && durationOf(value) !== undefined ? value : at.fault('should be a duration');

/** A duration in seconds. */
export const secondsUpTo = (limit_s: number): Shape<number> =>
  mapped(duration, (read, at) => {
    const length_s = durationOf(read)!;
    return length_s > limit_s ? at.fault('should not exceed the limit') : length_s;
  });

/** How deeply lists may stand in lists where they are flattened. */
const maximumNesting = 10;

/**
 * The items of a list and of the lists in it.
 * @returns undefined if it is no list, or is nested too deeply
 */
export function flattened(value: Value, levels = maximumNesting): Value[] | undefined {
  if (!isList(value)) return undefined;
  const items: Value[] = [];
  for (const item of value) {
    if (!isList(item)) {
      items.push(item);
      continue;
    }
    const inner = levels > 1 ? flattened(item, levels - 1) : undefined;
    if (!inner) return undefined;
    for (const each of inner) items.push(each);
  }
  return items;
}

const nestedTexts = (value: Value): readonly string[] | undefined => {
  const items = flattened(value);
  return items?.every((item) => typeof item === 'string') ? items : undefined;
};

const nested = `nested array of strings up to ${maximumNesting} levels deep`;

/** Lines of `before_script` and the like. */
export const lines: Shape<readonly string[]> = (value, at) =>
  nestedTexts(value) ?? at.fault(`should be an array of strings or a ${nested}`);

/** Lines of `script`, which may be one text. */
export const lineOrLines: Shape<readonly string[]> = (value, at) =>
  typeof value === 'string' ? [value] : (nestedTexts(value) ?? at.fault(`should be a string or a ${nested}`));

/** A whole number within limits. */
export const integerWithin =
  (minimum: number, maximum: number, refusal: string): Shape<number> =>
  (value, at) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return at.fault(refusal);
    if (value < minimum) return at.fault(`must be greater than or equal to ${minimum}`);
    return value > maximum ? at.fault(`must be less than or equal to ${maximum}`) : value;
  };
