/** Task items, `- [ ] text`, as docs/reference/issues.md counts them. */
import { linesOf } from './lines.ts';
import { inSlices, type Steps } from './slices.ts';

export interface TaskItem {
  text: string;
  done: boolean;
}

const space = /\s/;
const isSpace = (character: string | undefined) => character !== undefined && space.test(character);
const isDigit = (character: string | undefined) => character !== undefined && character >= '0' && character <= '9';

function skipSpaces(line: string, from: number): number {
  let at = from;
  while (isSpace(line[at])) at += 1;
  return at;
}

/** The end of the list item mark at a position; the same position if there is none. */
function markEnd(line: string, at: number): number {
  if (line[at] === '-' || line[at] === '+' || line[at] === '*') return at + 1;
  let end = at;
  while (isDigit(line[end])) end += 1;
  return end > at && line[end] === '.' ? end + 1 : at;
}

/** The offset where a task box would be: after any quote markers, at least one list marker, and white space. */
function boxOffset(line: string): number | undefined {
  let at = skipSpaces(line, 0);
  while (line[at] === '>') at = skipSpaces(line, at + 1);
  let end: number | undefined;
  for (;;) {
    const next = markEnd(line, at);
    if (next === at) return end === undefined || end === at ? undefined : at;
    end = next;
    at = skipSpaces(line, next);
  }
}

const box = /\[([\sxX])\]\s/y;

const boxAlone = /\[[ xX]\]\s/y;

/** The offset of the mark in the box on a line; undefined without a box. */
export function boxIn(line: string): number | undefined {
  boxAlone.lastIndex = boxOffset(line) ?? line.length;
  return boxAlone.test(line) ? boxAlone.lastIndex - 3 : undefined;
}

/**
 * A text with some of its boxes ticked, and others not.
 * @param boxes the lines with boxes that were shown, from 0
 * @param ticked those among them that are ticked
 */
export function withTicks(text: string, boxes: ReadonlySet<number>, ticked: ReadonlySet<number>): string {
  const parts = text.split(/(\r\n?|\n)/);
  const made = parts.map((part, index) => {
    const line = index / 2;
    const at = boxes.has(line) ? boxIn(part) : undefined;
    return at === undefined || ticked.has(line) === (part[at] !== ' ')
      ? part
      : `${part.slice(0, at)}${ticked.has(line) ? 'x' : ' '}${part.slice(at + 1)}`;
  });
  return made.join('');
}

/** The task on a line. */
function taskOn(line: string): TaskItem | undefined {
  const offset = boxOffset(line);
  if (offset === undefined) return undefined;
  box.lastIndex = offset;
  const state = box.exec(line)?.[1];
  const text = state === undefined ? '' : line.slice(box.lastIndex).trim();
  return text === '' ? undefined : { text, done: !isSpace(state) };
}

/** The task items of a Markdown text, in order. Code is ignored. */
export function* taskItems(text: string): Steps<TaskItem[]> {
  const items: TaskItem[] = [];
  // Few texts have tasks, and searching for a bracket is much cheaper than splitting lines.
  if (!text.includes('[')) return items;
  for (const line of linesOf(text)) {
    yield;
    const task = line.in_code ? undefined : taskOn(line.text);
    if (task) items.push(task);
  }
  return items;
}

/** The number of task items in a text, and of those that are done. */
export async function taskCompletion(text: string | null): Promise<{ count: number; completed_count: number }> {
  const items = text === null ? [] : await inSlices(taskItems(text));
  return { count: items.length, completed_count: items.filter(({ done }) => done).length };
}

/** `1 of 2 checklist items completed`. */
export const taskStatus = ({ count, completed_count }: { count: number; completed_count: number }): string =>
  `${completed_count} of ${count} checklist item${count === 1 ? '' : 's'} completed`;

/**
 * The items that were ticked or unticked: those with the same text and the same position among items with that text, but another state. If there are none,
 * only the words of the text changed.
 * @returns the items in their new state
 */
export async function tickedTasks(before: string | null, after: string | null): Promise<TaskItem[]> {
  const old = await inSlices(taskItems(before ?? ''));
  const now = await inSlices(taskItems(after ?? ''));
  return now.filter(({ text, done }, index) => old[index]?.text === text && old[index].done !== done);
}
