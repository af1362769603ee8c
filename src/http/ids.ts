/** Ids in requests: any integer is well formed, and an id outside the range of its column is not found. */

/** Stands for every integer beyond the range of its column; no row has it. */
const noId = -1;
/** The largest number of a row within its parent, such as the iid of an issue. */
export const maximumIid = 2 ** 31 - 1;

/**
 * Parses an id.
 * @returns undefined for text that is not an integer, such as a path or a username
 */
export function idIn(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  return withinRange(Number(text), Number.MAX_SAFE_INTEGER);
}

/** @param id an integer */
export const withinRange = (id: number, largest: number): number => (Math.abs(id) <= largest ? id : noId);
