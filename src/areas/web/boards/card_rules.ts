/** New cards of a board. */
import type { Static } from 'typebox';
import type { Values } from '../../../http/index.ts';
import type { Board } from '../../work/boards/index.ts';

/** Labels and oneself can be named behind the title: `Water the trees ~urgent @me`. */
const mark = /\s+(?:~([^\s~@]+)|@(me))(?=\s|$)/g;

/** Whether a new issue can be put into a list: none begins in an iteration. */
export const takesCards = ({ lists, iteration }: Static<typeof Board>, list_id: string): boolean =>
  list_id !== 'closed' &&
  iteration === null &&
  !lists.some(({ id, list_type }) => String(id) === list_id && list_type === 'iteration');

/**
 * The parameters of a new issue that is to be in a list of a board.
 * @param list_id the id of a list; any other text stands for the list of open issues
 * @param line the title, with `~label` and `@me` behind it
 */
export function newCard(
  { lists, labels, milestone, assignee, weight }: Static<typeof Board>,
  list_id: string,
  line: string,
  caller_id: number | undefined,
): Values {
  const list = lists.find(({ id }) => String(id) === list_id);
  const marks = [...line.matchAll(mark)];
  const named = marks.flatMap(([, label]) => label ?? []);
  const names = [...labels.map(({ name }) => name), ...(list?.label ? [list.label.name] : []), ...named];
  const milestone_id = list?.milestone?.id ?? milestone?.id;
  const assignees = [list?.assignee?.id ?? assignee?.id, marks.some(([, , me]) => me) ? caller_id : undefined];
  const assignee_ids = [...new Set(assignees.filter((id) => id !== undefined))];
  return {
    title: line.replaceAll(mark, '').trim(),
    ...(names.length > 0 && { labels: [...new Set(names)] }),
    ...(milestone_id !== undefined && { milestone_id }),
    ...(assignee_ids.length > 0 && { assignee_ids }),
    ...(weight !== null && weight >= 0 && { weight }),
  };
}
