/** Limits of texts, and of the titles and descriptions of issuables (docs/reference/issues.md), as reasons for `checked`. Pure functions. */

const maximumTitle = 255;
const maximumDescription = 1_048_576;

/** Whether a text has more than `most` code points: an emoji counts as one character, not as two UTF-16 units. */
export function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false;
  let count = 0;
  for (const _character of text) if (++count > most) return true;
  return false;
}

/** The reason against a text of more than `most` characters; empty for any other. */
export const tooLong = (text: string, most: number): string[] =>
  isLonger(text, most) ? [`is too long (maximum is ${most} characters)`] : [];

/** @param title with surrounding blanks, which are ignored */
export function titleReasons(title: string): string[] {
  if (title.trim() === '') return ["can't be blank"];
  return tooLong(title.trim(), maximumTitle);
}

const units = ['Bytes', 'KB', 'MB', 'GB'];

/** A number of bytes with three digits, e.g. `1.21 MB`. */
function humanSize(bytes: number): string {
  const exponent = Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${Number((bytes / 1024 ** exponent).toPrecision(3))} ${units[exponent]}`;
}

export const descriptionReasons = (description: string | null): string[] =>
  description !== null && isLonger(description, maximumDescription)
    ? [`is too long (${humanSize(Buffer.byteLength(description))}). The maximum size is 1 MB.`]
    : [];

/** The reasons against a color that is not `#rgb` or `#rrggbb`; null is none. */
export const hexColorReasons = (color: string | null): string[] =>
  color === null || /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color) ? [] : ['is not a valid color'];
