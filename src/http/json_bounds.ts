/** Checks a JSON text against limits, so that no text that would block other requests is ever parsed (docs/operating.md#limits). */
import { randomInt } from 'node:crypto';
import { badParams } from './errors.ts';
import { maximumPairs, tooManyPairs } from './form.ts';

const maximumDepth = 64;
const maximumElements = 100_000;

/** Limits keys inside parameters. The parser creates a shape for each combination of names, which costs a hundred times more than another object of the same shape. */
const maximumNames = 1024;
const manyListed = 10_000;

/** Random in each process, so that clients cannot construct names with the same hash. */
const seed = randomInt(2 ** 32);

const quote = 0x22;
const colon = 0x3a;
const comma = 0x2c;
const backslash = 0x5c;
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** Counts elements and levels outside strings. The text need not be valid: the parser decides that. */
export class JsonBounds {
  #depth = 0;
  #elements = 0;
  #parameters = 1;
  #commas = 0;
  #keys = 0;
  /** The hash of the last string. */
  #hash = seed;
  readonly #names = new Set<number>();
  #isInString = false;
  #isEscaped = false;

  /** How many keys and elements the text has. */
  get elements(): number {
    return this.#elements;
  }

  /** Whether the text has such long lists that transferring the values from a thread is faster than parsing the text. */
  get isLong(): boolean {
    return this.#commas - this.#keys > manyListed;
  }

  /** @throws ApiError 400 for more than 4,096 parameters, 1,024 different keys in them, 100,000 keys and elements, or 64 levels */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isInString = false;
        this.#hash = Math.imul(this.#hash ^ byte, 0x01000193);
      } else if (byte === quote) {
        this.#isInString = true;
        this.#hash = seed;
      } else if (byte === comma) this.#addMember();
      else if (byte === colon) this.#addKey();
      else if (opening.has(byte)) this.#open();
      else if (closing.has(byte)) this.#depth--;
    }
  }

  #addMember(): void {
    this.#commas++;
    this.#addElement();
    // The parameters of a body are copied between objects, which costs far more than parsing them.
    if (this.#depth === 1 && ++this.#parameters > maximumPairs) throw tooManyPairs();
  }

  #addKey(): void {
    this.#keys++;
    if (this.#depth > 1 && this.#names.add(this.#hash).size > maximumNames)
      throw badParams(`the body has more than ${maximumNames} different keys in its parameters`);
  }

  #open(): void {
    this.#addElement();
    if (++this.#depth > maximumDepth) throw badParams(`the body is nested more than ${maximumDepth} levels deep`);
  }

  #addElement(): void {
    if (++this.#elements > maximumElements)
      throw badParams(`the body has more than ${maximumElements} keys and elements`);
  }
}
