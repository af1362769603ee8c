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

/** As people see a value in an error: JSON on one line. */
export function textOf(value: Value): string {
  return JSON.stringify(plainOf(value)) ?? 'null';
}

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

/** Mappings are merged key by key, deeply; everything else of the second replaces what the first has. */
export function merged(first: Mapping, second: Mapping): Mapping {
  if (second.size === 0) return first;
  const result = new Map(first);
  for (const [key, value] of second) {
    const before = first.get(key);
    result.set(key, isMapping(before) && isMapping(value) ? merged(before, value) : value);
  }
  return result;
}

/** Texts of all values together, when merging and references have repeated them. */
const maximumTexts_chars = 20 * 1024 * 1024;

interface Size {
  nodes: number;
  chars: number;
  depth: number;
}

/**
 * Refuses a value that stands for too much. A value that is shared is looked at once, and counts wherever it is.
 * @throws Invalid
 */
export function checkSize(value: Value): void {
  const known = new Map<Value, Size>();
  const sizeOf = (each: Value): Size => {
    if (typeof each !== 'object' || each === null)
      return { nodes: 1, chars: typeof each === 'string' ? each.length : 8, depth: 0 };
    const before = known.get(each);
    if (before) return before;
    const size = { nodes: 1, chars: 0, depth: 0 };
    const members = each instanceof Reference ? each.path : each.values();
    if (isMapping(each)) for (const key of each.keys()) size.chars += key.length;
    for (const member of members) {
      const { nodes, chars, depth } = sizeOf(member);
      size.nodes += nodes;
      size.chars += chars;
      size.depth = Math.max(size.depth, depth + 1);
      if (size.nodes > maximumNodes || size.chars > maximumTexts_chars || size.depth > maximumDepth)
        throw new Invalid(tooBig);
    }
    known.set(each, size);
    return size;
  };
  sizeOf(value);
}

/**
 * Plain data, as JSON has it, as a value.
 * @throws Invalid if it is nested too deeply
 */
export function valueFrom(plain: unknown, depth = 0): Value {
  if (depth > maximumDepth) throw new Invalid(tooBig);
  if (Array.isArray(plain)) return plain.map((item) => valueFrom(item, depth + 1));
  if (typeof plain === 'object' && plain !== null)
    return new Map(Object.entries(plain).map(([key, member]) => [key, valueFrom(member, depth + 1)]));
  return typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean' ? plain : null;
}
