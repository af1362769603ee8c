/** The filters by people and by milestones, which lists of issues and of merge requests have. */
import { both, type Filter, type Meaning, on } from './filters.ts';
import type { Row } from './rows.ts';

export function milestoneFilters(title: string): Filter[] {
  return [
    ...both('milestone', { milestone: title }, ({ milestone }) => milestone?.title === title),
    ...both('milestone', { milestone: 'Any' }, ({ milestone }) => milestone !== null),
    ...both('milestone', { milestone: 'none' }, ({ milestone }) => milestone === null),
  ];
}

/** By people, as assignees are filtered. */
export function peopleFilters(
  name: 'assignee' | 'reviewer',
  peopleOf: (row: Row) => readonly number[],
  [one, other]: readonly { id: number; username: string }[],
): Filter[] {
  const [id, named] = [`${name}_id`, `${name}_username`];
  const isOne: Meaning = (row) => peopleOf(row).includes(one!.id);
  const isOther: Meaning = (row) => peopleOf(row).includes(other!.id);
  return [
    ...both(name, { [id]: one!.id }, isOne),
    ...both(name, { [id]: 'None' }, (row) => peopleOf(row).length === 0),
    ...both(name, { [id]: '0' }, (row) => peopleOf(row).length === 0),
    ...both(name, { [id]: 'any' }, (row) => peopleOf(row).length > 0),
    ...both(name, { [named]: one!.username }, isOne),
    ...both(name, { [named]: 'nobody' }, () => false),
    ...(name === 'reviewer'
      ? []
      : both(
          name,
          { [named]: [one!.username, other!.username] },
          (...given) => isOne(...given) && isOther(...given),
          (...given) => !isOne(...given) && !isOther(...given),
        )),
  ];
}

export const scopeFilters = (scopes: Record<string, (row: Row) => readonly (number | null)[]>): Filter[] =>
  Object.entries(scopes).map(([scope, peopleOf]) =>
    on('scope', { scope }, (row, { id }) => id !== undefined && peopleOf(row).includes(id)),
  );
