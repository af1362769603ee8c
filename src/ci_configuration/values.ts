/** What YAML consists of once it is read. Values are shared where the file has aliases, so nothing may change them. */

export type Value = null | boolean | number | string | readonly Value[] | Mapping | Reference;
/** In the order of the file. A map, so that no key means anything but itself. */
export type Mapping = ReadonlyMap<string, Value>;

/** `!reference [job, key]`, which stands for what is at that path. */
export class Reference {
  readonly path: readonly Value[];

  constructor(path: readonly Value[]) {
    this.path = path;
  }
}

/** Ends a compilation at the first error of a step. */
export class Invalid extends Error {
  override name = 'Invalid';
}

/** What one file, and all of them after merging and extending, may hold: values, and how deeply they are nested. */
export const maximumNodes = 1_000_000;
export const maximumDepth = 100;
export const tooBig = 'The parsed YAML is too big';

export const isMapping = (value: Value | undefined): value is Mapping => value instanceof Map;
export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value);

/**
 * A value as plain data, for JSON and for other threads. Objects have no prototype, so that `__proto__` is a key like any other.
 */
export function plainOf(value: Value): unknown {
  if (value instanceof Reference) return value.path.map(plainOf);
  if (isList(value)) return value.map(plainOf);
  if (!isMapping(value)) return value;
  const plain: Record<string, unknown> = Object.create(null);
  for (const [key, member] of value) plain[key] = plainOf(member);
  return plain;
}
