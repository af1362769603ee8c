/** How long texts may be, and what titles and descriptions may be, of issues and of epics (docs/reference/issues.md): reasons for `checked`. Pure functions. */

const maximumTitle = 255;
const maximumDescription = 1_048_576;

/** Characters as people count them, where there may be more than `most` of them: an emoji is one, whatever it takes in UTF-16. */
function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false;
  let count = 0;
  for (const _character of text) if (++count > most) return true;
  return false;
}

/** The reason against a text of more than `most` characters, if it is one. */
export const tooLong = (text: string, most: number): string[] =>
  isLonger(text, most) ? [`is too long (maximum is ${most} characters)`] : [];

/** @param title with the blanks around it, which are cut */
export function titleReasons(title: string): string[] {
  if (title.trim() === '') return ["can't be blank"];
  return tooLong(title.trim(), maximumTitle);
}

const units = ['Bytes', 'KB', 'MB', 'GB'];

/** A number of bytes in three digits, e.g. `1.21 MB`. */
function humanSize(bytes: number): string {
  const exponent = Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${Number((bytes / 1024 ** exponent).toPrecision(3))} ${units[exponent]}`;
}

export const descriptionReasons = (description: string | null): string[] =>
  description !== null && isLonger(description, maximumDescription)
    ? [`is too long (${humanSize(Buffer.byteLength(description))}). The maximum size is 1 MB.`]
    : [];
