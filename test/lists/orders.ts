/** The orders of lists, as values of rows that are compared one after the other. */
import type { Kind, Row } from './rows.ts';

export type Sort = 'asc' | 'desc';
type Value = string | number | null;

function priorityOf({ labels, place }: Row): number | null {
  const priorities = labels.flatMap(({ priorities: given }) => given[place.id] ?? []);
  return priorities.length > 0 ? Math.min(...priorities) : null;
}
const dueOf = ({ milestone }: Row) => milestone?.due_date ?? null;

const valuesOf: Record<string, (row: Row) => Value[]> = {
  created_at: ({ created_at }) => [created_at],
  updated_at: ({ updated_at }) => [updated_at],
  title: ({ title }) => [title.toLowerCase()],
  due_date: ({ due_date }) => [due_date],
  milestone_due: (row) => [dueOf(row)],
  weight: ({ weight }) => [weight],
  relative_position: ({ relative_position }) => [relative_position],
  label_priority: (row) => [priorityOf(row)],
  priority: (row) => [dueOf(row), priorityOf(row)],
  popularity: ({ reactions }) => [reactions.filter(({ name }) => name === 'thumbsup').length],
  merged_at: ({ merged_at }) => [merged_at],
};

const shared = ['created_at', 'updated_at', 'title'];
const planned = [...shared, 'milestone_due', 'label_priority', 'priority', 'popularity'];

/** The values of `order_by`. */
export const orderNames: Record<Kind, readonly string[]> = {
  issue: [...planned, 'due_date', 'weight', 'relative_position'],
  merge_request: [...planned, 'merged_at'],
  epic: shared,
};

/** Compares rows in an order: those without a value come last in both directions, and of equal ones the newer comes first. */
export function compared(a: Row, b: Row, order_by: string, sort: Sort): number {
  const others = valuesOf[order_by]!(b);
  for (const [index, value] of valuesOf[order_by]!(a).entries()) {
    const other = others[index]!;
    if (value === other) continue;
    if (value === null || other === null) return value === null ? 1 : -1;
    return (value < other ? -1 : 1) * (sort === 'asc' ? 1 : -1);
  }
  return b.id - a.id;
}
