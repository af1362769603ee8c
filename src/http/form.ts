/** Query strings and form bodies: `a=1`, `a[]=1`, `a[k]=v`, `a[][k]=v` and `a[0][k]=v` become nested values (docs/api.md). */
import { badParams } from './errors.ts';

export type Values = { [name: string]: unknown };

/** Several values of one plain name. A list takes all of them, any other type takes the last. */
export class Repeated extends Array<unknown> {}

/** The maximum number of parameters in a body of any type. */
export const maximumPairs = 4096;
const maximumDepth = 32;

export const tooManyPairs = () => badParams(`more than ${maximumPairs} parameters were sent`);

const emptyValues = (): Values => Object.create(null) as Values;

/** The steps of a name: `['a', 'b', '']` for `a[b][]`. Any other name is a single step. */
function stepsOf(name: string): string[] {
  const open = name.indexOf('[');
  if (open <= 0 || !name.endsWith(']')) return [name];
  return [name.slice(0, open), ...name.slice(open + 1, -1).split('][')];
}

function addPlain(into: Values, step: string, value: unknown): void {
  const before = into[step];
  if (before === undefined) into[step] = value;
  else if (before instanceof Repeated) before.push(value);
  else into[step] = Repeated.of(before, value);
}

/**
 * Longer texts arrive from the thread as UTF-8, whose memory is transferred. A string would be copied in one turn of the event loop: 100 MB take 80 ms. No text in
 * the database is longer (docs/operating.md#limits).
 */
export const maximumString_chars = 1_048_576;

/** Whether a value is a hash. Long texts are bytes (long_body.ts). */
export const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** The element of `list` that `step` belongs to: the last one, or a new one if the last already has that member. */
function elementFor(list: unknown[], steps: string[]): Values {
  const last = list.at(-1);
  const [step] = steps;
  if (isValues(last) && (last[step!] === undefined || steps[1] !== undefined)) return last;
  const element = emptyValues();
  list.push(element);
  return element;
}

function add(into: Values, [step, ...rest]: string[], value: unknown): void {
  if (rest.length === 0) return addPlain(into, step!, value);
  if (rest[0] === '') {
    const list = Array.isArray(into[step!]) ? (into[step!] as unknown[]) : [];
    into[step!] = list;
    if (rest.length === 1) list.push(value);
    else add(elementFor(list, rest.slice(1)), rest.slice(1), value);
    return;
  }
  if (!isValues(into[step!])) into[step!] = emptyValues();
  add(into[step!] as Values, rest, value);
}

/**
 * Nests name-value pairs.
 * @throws ApiError 400 when there are more than 4096 pairs or a name goes deeper than 32 levels.
 */
export function nest(pairs: Iterable<readonly [string, unknown]>): Values {
  const values = emptyValues();
  let count = 0;
  for (const [name, value] of pairs) {
    if (++count > maximumPairs) throw tooManyPairs();
    const steps = stepsOf(name);
    if (steps.length > maximumDepth) throw badParams(`${name.slice(0, 40)}… is nested too deeply`);
    add(values, steps, value);
  }
  return values;
}

const ampersand = 0x26;

/** Counts the pairs of a form before any is decoded. */
export class FormBounds {
  #pairs = 1;

  /** @throws ApiError 400 for more than 4096 pairs */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) if (byte === ampersand) this.#pairs++;
    if (this.#pairs > maximumPairs) throw tooManyPairs();
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badParams(`'${text.slice(0, 100)}' is not a valid percent-encoding`);
  }
}

/**
 * The decoded name-value pairs of an `application/x-www-form-urlencoded` text.
 * @throws ApiError 400 for an invalid percent-encoding
 */
export function pairsIn(text: string): [string, string][] {
  const pairs = text.split('&', maximumPairs + 1).filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const equals = pair.indexOf('=');
    return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
  });
}

/**
 * Reads `application/x-www-form-urlencoded` text.
 * @throws ApiError 400 as `pairsIn` and `nest`
 */
export const readForm = (text: string): Values => nest(pairsIn(text));
