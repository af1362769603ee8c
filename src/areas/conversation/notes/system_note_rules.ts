/** Words that notes of the product have in common, whatever changed (docs/reference/notes.md). Pure functions. */
import { tickedTasks } from '../../../markdown/index.ts';

/** How many characters two texts have in common from their beginning. */
function commonStart(one: readonly string[], other: readonly string[], most: number): number {
  let length = 0;
  while (length < most && one[length] === other[length]) length++;
  return length;
}

/** The changed part of a text in marks; what stays on both sides of it is not marked. */
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
 * @param what which date, e.g. `due date`
 * @param date `YYYY-MM-DD`, or null where it was taken away
 */
export const dateChanged = (what: string, date: string | null): string =>
  date === null ? `removed ${what}` : `changed ${what} to ${longDate.format(new Date(`${date}T00:00:00Z`))}`;

const taskTicked = ({ text, done }: { text: string; done: boolean }): string =>
  `marked the checklist item **${text}** as ${done ? 'completed' : 'incomplete'}`;

/** More ticks than a person makes at once are a new text. */
const mostTicks = 20;

/** What is noted of a description that is another now: which of its tasks were ticked, if that is all, or that it was changed. */
export function descriptionChanged(from: string | null, to: string | null): string[] {
  const ticked = tickedTasks(from, to);
  return ticked.length > 0 && ticked.length <= mostTicks ? ticked.map(taskTicked) : ['changed the description'];
}
