/** `!reference [job, key]`: what stands at another place of the configuration. */
import {
  Invalid,
  isList,
  isMapping,
  type Mapping,
  maximumDepth,
  Reference,
  textOf,
  tooBig,
  type Value,
} from './values.ts';

const shown = (path: readonly Value[]) => `!reference [${path.map(textOf).join(', ')}]`;

class Resolving {
  readonly #entries: Mapping;
  readonly #known = new Map<Value, Value>();
  readonly #targets = new Map<string, Value>();
  /** References that are being resolved. */
  readonly #way = new Set<string>();
  /** How many collections are around the value that is being resolved. */
  #depth = 0;

  constructor(entries: Mapping) {
    this.#entries = entries;
  }

  resolved(value: Value): Value {
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const result = value instanceof Reference ? this.#target(value) : this.#within(value);
    this.#known.set(value, result);
    return result;
  }

  /** References may nest what is nested already, until the stack ends. */
  #within(value: readonly Value[] | Mapping): Value {
    if (++this.#depth > maximumDepth) throw new Invalid(tooBig);
    const result = this.#collection(value);
    this.#depth--;
    return result;
  }

  /** The same collection if nothing in it is a reference. */
  #collection(value: readonly Value[] | Mapping): Value {
    if (isList(value)) {
      const items = value.map((item) => this.resolved(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const members = [...value].map(([key, member]): [string, Value] => [key, this.resolved(member)]);
    return members.some(([key, member]) => member !== value.get(key)) ? new Map(members) : value;
  }

  #target({ path }: Reference): Value {
    if (path.length === 0 || !path.every((step) => typeof step === 'string'))
      throw new Invalid(`${shown(path)} is not valid`);
    const name = shown(path);
    const before = this.#targets.get(name);
    if (before !== undefined) return before;
    if (this.#way.has(name)) throw new Invalid(`${name} is part of a circular chain`);
    this.#way.add(name);
    if (this.#way.size > maximumDepth) throw new Invalid(tooBig);
    const target = this.resolved(this.#at(path, name));
    this.#way.delete(name);
    this.#targets.set(name, target);
    return target;
  }

  #at(path: readonly string[], name: string): Value {
    let place: Value | undefined = this.#entries;
    for (const step of path) {
      if (place instanceof Reference) place = this.resolved(place);
      place = isMapping(place) ? place.get(step) : undefined;
    }
    if (place === undefined || place === null) throw new Invalid(`${name} could not be found`);
    return place;
  }
}

/**
 * The entries of a configuration without references.
 * @throws Invalid
 */
export function resolved(entries: Mapping): Mapping {
  const resolving = new Resolving(entries);
  return new Map([...entries].map(([name, value]) => [name, resolving.resolved(value)]));
}
