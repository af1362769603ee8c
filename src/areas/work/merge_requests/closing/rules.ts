/** Finds closing references in a text: `Closes #1, #2 and group/project#3`. Pure functions. */
import { type Reference, referencesIn } from '../../../../markdown/index.ts';

const before =
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +(?:issues? +)?$/i;
const between = /^(?: *,? +and +| *, *| +)$/;
/** The most text before a reference that is examined. */
const maximumBefore = 40;

/** The references to issues that a text closes, in order. */
export async function closingReferences(text: string): Promise<Reference[]> {
  const issues = (await referencesIn(text)).filter(({ kind }) => kind === 'issue');
  const closing: Reference[] = [];
  for (const reference of issues) {
    const last = closing.at(-1);
    const follows =
      last !== undefined &&
      reference.start - last.end <= maximumBefore &&
      between.test(text.slice(last.end, reference.start));
    if (follows || before.test(text.slice(Math.max(0, reference.start - maximumBefore), reference.start)))
      closing.push(reference);
  }
  return closing;
}
