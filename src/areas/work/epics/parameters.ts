/** The parameters for creating and updating epics (docs/reference/epics.md). */
import { type Static, type TObject, Type } from 'typebox';
import { type Group, levels } from '../../../access/index.ts';
import {
  allOptional,
  atLeastOneOf,
  ClearableList,
  CommaList,
  checked,
  DateOnly,
  deprecated,
  IdOf,
  longText,
  mutuallyExclusive,
  notEmpty,
  nullable,
  type Rule,
  since,
  Timestamp,
} from '../../../http/index.ts';

import { descriptionReasons, titleReasons } from '../../../texts/index.ts';
import { colorReasons } from '../../planning/labels/index.ts';
import type { NewEpic } from './actions.ts';
import type { EpicChanges } from './change_actions.ts';

const title = checked(Type.String({ description: 'At most 255 characters' }), titleReasons);

const common = {
  description: longText(
    checked(nullable(Type.String({ description: 'At most 1,048,576 characters' })), descriptionReasons),
  ),
  labels: ClearableList(Type.String({ description: 'Titles; missing labels are created in the group' })),
  color: checked(Type.String({ description: '`#rrggbb`, `#rgb` or a CSS name' }), colorReasons),
  confidential: notEmpty(Type.Boolean()),
  start_date_is_fixed: notEmpty(
    Type.Boolean({ description: 'Use `start_date_fixed` instead of the earliest date of issues and child epics' }),
  ),
  start_date_fixed: nullable(DateOnly),
  due_date_is_fixed: notEmpty(
    Type.Boolean({ description: 'Use `due_date_fixed` instead of the latest date of issues and child epics' }),
  ),
  due_date_fixed: nullable(DateOnly),
  start_date: deprecated('use `start_date_fixed`', nullable(Type.String({ format: 'date' }))),
  end_date: deprecated('use `due_date_fixed`', nullable(Type.String({ format: 'date' }))),
  parent_id: since('ultimate', nullable(IdOf({ description: 'ID of an epic; 0: none' }))),
};

export const newEpicInput = { title, ...allOptional({ ...common, created_at: Timestamp }) };

export const editEpicInput = allOptional({
  title,
  ...common,
  add_labels: CommaList(Type.String({ description: 'Titles of labels to add' })),
  remove_labels: CommaList(Type.String({ description: 'Titles of labels to remove' })),
  state_event: Type.Enum(['close', 'reopen']),
  updated_at: notEmpty(Timestamp),
});

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
