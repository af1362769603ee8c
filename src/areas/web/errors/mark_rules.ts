/** At which lines of a file open errors are marked. */

/** A place in the code, as the client of an application sent it. */
export interface SentPlace {
  filename: string;
  /** From 1. */
  line: number;
  /** The text of the line; null if it was not sent. */
  text: string | null;
}

/** A line of a file that is shown. */
export interface ShownLine {
  /** From 1. */
  number: number;
  text: string;
}

/** Whether a client means a file of the repository: by its path, or by one that ends with it, as on a server. */
export function isPlaceIn({ filename }: SentPlace, path: string): boolean {
  const sent = filename.replace(/^[a-z][\w+.-]*:\/+/i, '').replace(/^(?:\.{0,2}\/+)+/, '');
  return sent === path || (path.includes('/') && sent.endsWith(`/${path}`));
}

/**
 * The number of the line at which a place is now: where its text is, nearest to where it was, or without a text where it was.
 * @param lines that are shown
 */
export function lineOf({ line, text }: SentPlace, lines: readonly ShownLine[]): number | undefined {
  const wanted = text?.trim() ?? '';
  const alike =
    wanted === '' ? lines.filter(({ number }) => number === line) : lines.filter((each) => each.text.trim() === wanted);
  const [nearest] = alike.toSorted((one, other) => Math.abs(one.number - line) - Math.abs(other.number - line));
  return nearest?.number;
}
