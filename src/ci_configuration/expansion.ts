/** Variables within texts and within other variables (docs/reference/ci_configuration.md#expansion). Pure functions. */

/** A variable of a pipeline or of a job. */
export interface CiVariable {
  key: string;
  value: string;
  /** Whether `$` in the value is text. */
  raw?: boolean;
  /** Whether the job gets the path of a file with the value. It is no part of other values: only the runner knows the path. */
  file?: boolean;
  /** Whether logs must not show the value. */
  masked?: boolean;
}

/** Variables by key. */
export type Variables = ReadonlyMap<string, CiVariable>;

/** The most characters of all values together after they are expanded. */
const maximum_chars = 2 * 1024 * 1024;

/** Two signs are one that begins no name. */
const reference = /\$\$|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|%([A-Za-z_]\w*)%/g;

/** Variables that need each other or become too large; the message is for people. */
export class ExpansionError extends Error {
  override name = 'ExpansionError';
}

/** The keys that a value names, in their order. */
const namedIn = ({ value, raw }: CiVariable): string[] =>
  raw ? [] : [...value.matchAll(reference)].flatMap(([, plain, braced, percent]) => plain ?? braced ?? percent ?? []);

/** The keys of variables, each after those that its value names. @throws ExpansionError for a circle */
function inOrderOfNeed(variables: Variables): string[] {
  const order: string[] = [];
  const isDone = new Map<string, boolean>();
  for (const first of variables.keys()) {
    const way: { key: string; named: string[] }[] = [];
    const enter = (key: string) => {
      const variable = variables.get(key);
      if (!variable || isDone.get(key)) return;
      if (isDone.has(key)) {
        const circle = way.slice(way.findIndex((each) => each.key === key)).map((each) => each.key);
        throw new ExpansionError(
          `circular variable reference detected: ${JSON.stringify(circle).replaceAll(',', ', ')}`,
        );
      }
      isDone.set(key, false);
      way.push({ key, named: namedIn(variable).reverse() });
    };
    enter(first);
    for (let last = way.at(-1); last; last = way.at(-1)) {
      const next = last.named.pop();
      if (next !== undefined) enter(next);
      else {
        isDone.set(last.key, true);
        order.push(last.key);
        way.pop();
      }
    }
  }
  return order;
}

/**
 * Variables with the others in their values. Those that are not there and those that are files stay as they are, and so does `$$`: the runner expands values once more.
 * @throws ExpansionError if some need each other in a circle, or if they become larger than 2 MiB together
 */
export function expanded(variables: Variables): Variables {
  const found = new Map<string, CiVariable>();
  let size_chars = 0;
  for (const key of inOrderOfNeed(variables)) {
    const variable = variables.get(key)!;
    const value = variable.raw
      ? variable.value
      : variable.value.replaceAll(reference, (whole, plain, braced, percent) => {
          const other = found.get(plain ?? braced ?? percent ?? '');
          if (!other || other.file) return whole;
          size_chars += other.value.length;
          if (size_chars > maximum_chars) throw new ExpansionError('variables are larger than 2 MiB');
          // The dollars of a value that is taken as it is are no references of this one either.
          return other.raw ? other.value.replaceAll('$', '$$$$') : other.value;
        });
    found.set(key, { ...variable, value });
  }
  return found;
}

/** The value of a variable that is expanded, as it is compared and shown. */
export const plainValue = ({ value, raw }: CiVariable): string => (raw ? value : value.replaceAll('$$', '$'));

/**
 * A text with the values of variables in it. Those that are not there are empty.
 * @param variables whose own values are expanded
 */
export const expand = (text: string, variables: Variables): string =>
  text.replaceAll(reference, (whole, plain, braced, percent) => {
    if (whole === '$$') return '$';
    const variable = variables.get(plain ?? braced ?? percent);
    return variable ? plainValue(variable) : '';
  });
