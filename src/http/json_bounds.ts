/** Checks a JSON text against limits while it arrives, so that no text that would block other requests is ever parsed (docs/operating.md#limits). */
import { badParams } from './errors.ts';
import { maximumPairs, tooManyPairs } from './form.ts';

const maximumDepth = 64;
const maximumElements = 100_000;

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** Counts elements and levels outside strings. The text need not be valid: the parser decides that. */
export class JsonBounds {
  #depth = 0;
  #elements = 0;
  #parameters = 1;
  #isInString = false;
  #isEscaped = false;

  /** @throws ApiError 400 for more than 4,096 parameters, 100,000 keys and elements, or 64 levels */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isInString = false;
      } else if (byte === quote) this.#isInString = true;
      else if (byte === comma) this.#addMember();
      else if (opening.has(byte)) this.#open();
      else if (closing.has(byte)) this.#depth--;
    }
  }

  #addMember(): void {
    this.#addElement();
    // The parameters of a body are copied between objects, which costs far more than parsing them.
    if (this.#depth === 1 && ++this.#parameters > maximumPairs) throw tooManyPairs();
  }

  #open(): void {
    this.#addElement();
    if (++this.#depth > maximumDepth) throw badParams(`the body is nested more than ${maximumDepth} levels deep`);
  }

  #addElement(): void {
    if (++this.#elements > maximumElements) throw badParams(`the body has more than ${maximumElements} keys and elements`);
  }
}
