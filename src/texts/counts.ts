/**
 * A number with what it counts, e.g. `1 repository`.
 * @param plural of the noun, if it does not only get an s
 */
export const counted = (count: number, noun: string, plural = `${noun}s`): string => `${count} ${count === 1 ? noun : plural}`;
