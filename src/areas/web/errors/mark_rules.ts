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
 * Makes a function that finds the line at which a place is now: where its text is, nearest to where it was, or without a text where it was.
 * The lines are looked through once, however many places there are.
 * @param lines that are shown
 */
export function lineFinder(lines: readonly ShownLine[]): (place: SentPlace) => number | undefined {
  const byText = new Map<string, number[]>();
  const shown = new Set<number>();
  for (const { number, text } of lines) {
    shown.add(number);
    const key = text.trim();
    const alike = byText.get(key);
    if (alike) alike.push(number);
    else byText.set(key, [number]);
  }
  return ({ line, text }) => {
    const wanted = text?.trim() ?? '';
    if (wanted === '') return shown.has(line) ? line : undefined;
    const alike = byText.get(wanted) ?? [];
    return alike.reduce<number | undefined>(
      (nearest, number) =>
        nearest !== undefined && Math.abs(nearest - line) <= Math.abs(number - line) ? nearest : number,
      undefined,
    );
  };
}
