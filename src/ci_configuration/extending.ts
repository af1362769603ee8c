/** `extends`: a job begins with what others have. */
import { Invalid, isList, isMapping, type Mapping, merged, type Value } from './values.ts';

const maximumLevels = 10;

/** The names in `extends`; undefined for another shape, which the check of shapes reports. */
function basesOf(job: Mapping): readonly string[] | undefined {
  const given = job.get('extends');
  const names = isList(given) ? given : [given];
  return names.every((name) => typeof name === 'string') ? names : undefined;
}

interface Extended {
  job: Mapping;
  /** How many levels are above it. */
  levels: number;
}

class Extending {
  readonly #entries: Mapping;
  readonly #known = new Map<string, Extended>();
  readonly #way = new Set<string>();

  constructor(entries: Mapping) {
    this.#entries = entries;
  }

  extended(name: string, job: Mapping): Extended {
    const known = this.#known.get(name);
    if (known) return known;
    const bases = basesOf(job);
    const result = bases ? this.#withBases(name, job, bases) : { job, levels: 0 };
    this.#known.set(name, result);
    return result;
  }

  #withBases(name: string, job: Mapping, bases: readonly string[]): Extended {
    const unknown = bases.filter((base) => !this.#entries.has(base));
    if (unknown.length > 0) throw new Invalid(`${name}: unknown keys in \`extends\` (${unknown.join(', ')})`);
    const wrong = bases.filter((base) => !isMapping(this.#entries.get(base)));
    if (wrong.length > 0) throw new Invalid(`${name}: invalid base hashes in \`extends\` (${wrong.join(', ')})`);
    if (this.#way.has(name)) throw new Invalid(`${name}: circular dependency detected in \`extends\``);
    this.#way.add(name);
    // A chain that is too long need not be followed to its end.
    if (this.#way.size > maximumLevels + 1) this.#tooDeep();
    let result: Mapping = new Map();
    let levels = 0;
    for (const base of bases) {
      const above = this.extended(base, this.#entries.get(base) as Mapping);
      levels = Math.max(levels, above.levels + 1);
      result = merged(result, withoutExtends(above.job));
    }
    this.#way.delete(name);
    if (levels > maximumLevels) this.#tooDeep(name);
    return { job: merged(result, job), levels };
  }

  /** Reports the job at the lower end of the chain. */
  #tooDeep(name?: string): never {
    const [lowest] = this.#way;
    throw new Invalid(`${lowest ?? name}: nesting too deep in \`extends\``);
  }
}

function withoutExtends(job: Mapping): Mapping {
  if (!job.has('extends')) return job;
  const others = new Map(job);
  others.delete('extends');
  return others;
}

/**
 * The entries of a configuration, those that extend others merged with them.
 * @throws Invalid
 */
export function extended(entries: Mapping): Mapping {
  const extending = new Extending(entries);
  return new Map(
    [...entries].map(([name, value]): [string, Value] => [
      name,
      isMapping(value) && value.has('extends') ? extending.extended(name, value).job : value,
    ]),
  );
}
