/** The shared wording of system notes (docs/reference/notes.md). Pure functions. */
import { tickedTasks } from '../../../markdown/index.ts';

/** The length of the common prefix of two texts. */
function commonStart(one: readonly string[], other: readonly string[], most: number): number {
  let length = 0;
  while (length < most && one[length] === other[length]) length++;
  return length;
}

/** A text with its changed part marked. */
const marked = (characters: readonly string[], start: number, end: number, sign: '+' | '-'): string => {
  const [before, changed, after] = [characters.slice(0, start), characters.slice(start, end), characters.slice(end)];
  return `**${before.join('')}${changed.length > 0 ? `{${sign}${changed.join('')}${sign}}` : ''}${after.join('')}**`;
};

/** `changed title from **{-Old-} title** to **{+New+} title**` */
export function titleChanged(from: string, to: string): string {
  const [before, after] = [[...from], [...to]];
  const start = commonStart(before, after, Math.min(before.length, after.length));
  const rest = Math.min(before.length, after.length) - start;
  const end = commonStart(before.toReversed(), after.toReversed(), rest);
  return `changed title from ${marked(before, start, before.length - end, '-')} to ${marked(after, start, after.length - end, '+')}`;
}

const longDate = new Intl.DateTimeFormat('en-US', { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' });

/**
 * `changed due date to September 20, 2018`
 * @param what the name of the date, e.g. `due date`
 * @param date `YYYY-MM-DD`, or null if it was removed
 */
export const dateChanged = (what: string, date: string | null): string =>
  date === null ? `removed ${what}` : `changed ${what} to ${longDate.format(new Date(`${date}T00:00:00Z`))}`;

const taskTicked = ({ text, done }: { text: string; done: boolean }): string =>
  `marked the checklist item **${text}** as ${done ? 'completed' : 'incomplete'}`;

/** More ticks than this in one edit are reported as a changed text. */
const maximumTicks = 20;

/** The system note for a changed description: the tasks that were ticked, if nothing else changed. */
export async function descriptionChanged(from: string | null, to: string | null): Promise<string[]> {
  const ticked = await tickedTasks(from, to);
  return ticked.length > 0 && ticked.length <= maximumTicks ? ticked.map(taskTicked) : ['changed the description'];
}
