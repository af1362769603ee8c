/** The parameters for creating and updating epics (docs/reference/epics.md). */
import { type Static, type TObject, Type } from 'typebox';
import { type Group, levels } from '../../../access/index.ts';
import { creationOf, editOf, inOrder } from '../../../fields/index.ts';
import { atLeastOneOf, mutuallyExclusive, notEmpty, type Rule, Timestamp } from '../../../http/index.ts';
import type { NewEpic } from './actions.ts';
import type { EpicChanges } from './change_actions.ts';
import { epicFields } from './fields.ts';

const order = [
  ...['title', 'description', 'labels', 'color', 'confidential', 'start_date_is_fixed', 'start_date_fixed'],
  ...['due_date_is_fixed', 'due_date_fixed', 'start_date', 'end_date', 'parent_id', 'add_labels'],
  ...['remove_labels', 'state_event'],
];

export const newEpicInput = { ...inOrder(order, creationOf(epicFields)), created_at: Type.Optional(Timestamp) };

export const editEpicInput = {
  ...inOrder(order, editOf(epicFields)),
  updated_at: Type.Optional(notEmpty(Timestamp)),
};

export const newEpicRules: readonly Rule[] = [
  mutuallyExclusive('start_date', 'start_date_fixed'),
  mutuallyExclusive('end_date', 'due_date_fixed'),
];

export const editEpicRules: readonly Rule[] = [
  ...newEpicRules,
  atLeastOneOf(
    'add_labels',
    'color',
    'confidential',
    'description',
    'due_date_fixed',
    'due_date_is_fixed',
    'labels',
    'parent_id',
    'remove_labels',
    'start_date_fixed',
    'start_date_is_fixed',
    'state_event',
    'title',
    'start_date',
    'end_date',
  ),
];

type Dates = Pick<Partial<Static<TObject<typeof editEpicInput>>>, 'start_date' | 'end_date'>;

/** Converts the deprecated dates to fixed dates. */
function datesFrom({ start_date, end_date }: Dates) {
  return {
    ...(start_date === undefined ? {} : { start_date_fixed: start_date, start_date_is_fixed: start_date !== null }),
    ...(end_date === undefined ? {} : { due_date_fixed: end_date, due_date_is_fixed: end_date !== null }),
  };
}

/** Whether the caller may set timestamps. They are ignored from other callers. */
const mayDate = ({ access_level }: Group) => access_level >= levels.owner;

/** Converts parameters to a new epic. */
export const newEpicFrom = (
  group: Group,
  { start_date, end_date, created_at, ...given }: Static<TObject<typeof newEpicInput>>,
): NewEpic => ({
  ...given,
  ...datesFrom({
    ...(start_date === undefined ? {} : { start_date }),
    ...(end_date === undefined ? {} : { end_date }),
  }),
  created_at: mayDate(group) ? created_at : undefined,
});

/** Converts parameters to changes. */
export const epicChangesFrom = (
  group: Group,
  { start_date, end_date, updated_at, ...given }: Partial<Static<TObject<typeof editEpicInput>>>,
): EpicChanges => ({
  ...given,
  ...datesFrom({
    ...(start_date === undefined ? {} : { start_date }),
    ...(end_date === undefined ? {} : { end_date }),
  }),
  updated_at: mayDate(group) ? updated_at : undefined,
});
