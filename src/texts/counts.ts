/**
 * A number with what it counts, e.g. `1 repository`.
 * @param plural of the noun, if it does not only get an s
 */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

const units = ['Bytes', 'KB', 'MB', 'GB'] as const;

/** A size for people, with three digits: `1.5 MB`. */
export function sizeText(size_bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(size_bytes, 1)) / 10));
  return `${Number((size_bytes / 1024 ** power).toPrecision(3))} ${units[power]}`;
}
