/** Checks mappings against ECMA-426: the library accepts any text, and produces positions from damaged ones. */

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The value of each character, by its code; a typed array, because files have millions of them. */
const values = Int8Array.from({ length: 128 }, (_none, code) => digits.indexOf(String.fromCharCode(code)));
const [comma, semicolon] = [','.charCodeAt(0), ';'.charCodeAt(0)];
const continuation = 32;
/** What the last of seven digits counts: a number has 32 bits. */
const maximumScale = continuation ** 6;

export interface Mappings {
  mappings: string;
  /** How many sources and names the map has for them to point to. */
  sources: number;
  names: number;
}

/** Reads the numbers of segments one after the other: column, source, line and column there, and name, each relative to the last one of its kind. */
class Segments {
  readonly #at = [0, 0, 0, 0, 0];
  readonly #ends: readonly number[];
  #field = 0;

  constructor({ sources, names }: Mappings) {
    const any = 2 ** 31;
    this.#ends = [any, sources, any, any, names];
  }

  /** @returns whether there may be such a number here */
  add(value: number): boolean {
    if (this.#field === this.#at.length) return false;
    const at = this.#at[this.#field]! + value;
    this.#at[this.#field] = at;
    return at >= 0 && at < this.#ends[this.#field++]!;
  }

  /** @returns whether the segment has as many numbers as one may have */
  end(isEndOfLine: boolean): boolean {
    const isWhole = this.#field < 2 || this.#field > 3;
    this.#field = 0;
    if (isEndOfLine) this.#at[0] = 0;
    return isWhole;
  }
}

/** Whether every segment can be read and points to a source and a name of the map. */
export function areWellFormed(map: Mappings): boolean {
  const segments = new Segments(map);
  let value = 0;
  let scale = 1;
  for (let place = 0; place < map.mappings.length; place++) {
    const code = map.mappings.charCodeAt(place);
    if (code === comma || code === semicolon) {
      if (scale > 1 || !segments.end(code === semicolon)) return false;
      continue;
    }
    const digit = values[code] ?? -1;
    if (digit < 0 || scale > maximumScale) return false;
    value += (digit % continuation) * scale;
    scale *= continuation;
    if (digit >= continuation) continue;
    // The lowest bit is the sign.
    if (!segments.add(value % 2 === 0 ? value / 2 : (1 - value) / 2)) return false;
    value = 0;
    scale = 1;
  }
  return scale === 1 && segments.end(true);
}
