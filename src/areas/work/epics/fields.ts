/** The fields of epics: all members of replies, in their order, and all parameters (docs/reference/epics.md, docs/adding_a_field.md). */
import { Type } from 'typebox';
import type { Field } from '../../../fields/index.ts';
import {
  Address,
  ClearableList,
  CommaList,
  checked,
  DateOnly,
  deprecated,
  forPrograms,
  Id,
  IdOf,
  Iid,
  longText,
  Markdown,
  notEmpty,
  nullable,
  optional,
  since,
  Timestamp,
} from '../../../http/index.ts';
import {
  choice,
  column,
  columnOr,
  day,
  flag,
  integer,
  markdown,
  required,
  spelled,
  text,
  time,
} from '../../../relations/index.ts';
import { descriptionReasons, titleReasons } from '../../../texts/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { colorFrom, colorReasons, LabelDetails } from '../../planning/labels/index.ts';

const Day = () => nullable(Type.String({ format: 'date' }));
const fixedDay = (name: string) =>
  ({ column: 'given', input: nullable(DateOnly), reply: nullable(DateOnly), relation: column(name, day) }) as const;
const isFixed = (name: string, description: string) =>
  ({
    column: 'given',
    input: notEmpty(Type.Boolean({ description })),
    reply: Type.Boolean(),
    relation: columnOr(name, flag, false),
  }) as const;
const count = { column: 'kept', reply: Type.Integer() } as const;

export const epicFields = {
  id: { column: 'kept', reply: Id },
  work_item_id: { reply: Id },
  iid: { column: 'kept', reply: Iid, relation: required('iid', integer(1)) },
  color: {
    column: 'given',
    input: checked(Type.String({ description: '`#rrggbb`, `#rgb` or a CSS name' }), colorReasons),
    reply: Type.String({ description: '`#rrggbb`' }),
    relation: columnOr(
      'color',
      spelled(colorReasons, (color) => colorFrom(color)!),
      '#1068bf',
    ),
  },
  text_color: { reply: Type.String({ description: 'A text color that is readable on `color`' }) },
  group_id: { column: 'kept', reply: Id },
  parent_id: {
    input: since('ultimate', nullable(IdOf({ description: 'ID of an epic; 0: none' }))),
    reply: nullable(Id),
  },
  parent_iid: { reply: nullable(Iid) },
  imported: { reply: Type.Boolean() },
  imported_from: { column: 'kept', reply: Type.String() },
  title: {
    column: 'given',
    input: checked(Type.String({ description: 'At most 255 characters' }), titleReasons),
    is_required: true,
    reply: Type.String(),
    relation: required('title', text(titleReasons)),
  },
  description: {
    column: 'given',
    input: longText(
      checked(nullable(Type.String({ description: 'At most 1,048,576 characters' })), descriptionReasons),
    ),
    reply: nullable(Markdown()),
    relation: column('description', markdown(descriptionReasons)),
  },
  confidential: {
    column: 'given',
    input: notEmpty(Type.Boolean()),
    reply: Type.Boolean(),
    relation: columnOr('confidential', flag, false),
  },
  author: { reply: nullable(UserBasic) },
  start_date: { input: deprecated('use `start_date_fixed`', Day()), reply: nullable(DateOnly) },
  start_date_is_fixed: isFixed(
    'start_date_is_fixed',
    'Use `start_date_fixed` instead of the earliest date of issues and child epics',
  ),
  start_date_fixed: fixedDay('start_date_fixed'),
  start_date_from_inherited_source: { reply: nullable(DateOnly) },
  start_date_from_milestones: { reply: deprecated('use `start_date_from_inherited_source`', Day()) },
  end_date: {
    input: deprecated('use `due_date_fixed`', Day()),
    reply: deprecated('use `due_date`', Day()),
  },
  due_date: { reply: nullable(DateOnly) },
  due_date_is_fixed: isFixed(
    'due_date_is_fixed',
    'Use `due_date_fixed` instead of the latest date of issues and child epics',
  ),
  due_date_fixed: fixedDay('due_date_fixed'),
  due_date_from_inherited_source: { reply: nullable(DateOnly) },
  due_date_from_milestones: { reply: deprecated('use `due_date_from_inherited_source`', Day()) },
  state: {
    column: 'kept',
    reply: Type.Enum(['opened', 'closed']),
    relation: columnOr('state', choice('opened', 'closed'), 'opened'),
  },
  state_event: { update: Type.Enum(['close', 'reopen']) },
  web_edit_url: { reply: Address() },
  web_url: { reply: Address() },
  references: {
    reply: forPrograms(Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() })),
  },
  created_at: { column: 'kept', reply: Timestamp, relation: required('created_at', time) },
  updated_at: { column: 'kept', reply: Timestamp, relation: required('updated_at', time) },
  closed_at: { column: 'kept', reply: nullable(Timestamp), relation: column('closed_at', time) },
  labels: {
    input: ClearableList(Type.String({ description: 'Titles; missing labels are created in the group' })),
    reply: Type.Array(Type.Union([Type.String(), LabelDetails])),
  },
  add_labels: { update: CommaList(Type.String({ description: 'Titles of labels to add' })) },
  remove_labels: { update: CommaList(Type.String({ description: 'Titles of labels to remove' })) },
  upvotes: count,
  downvotes: count,
  subscribed: { reply: optional(Type.Boolean()) },
  _links: {
    reply: forPrograms(
      Type.Object({
        self: Type.String(),
        epic_issues: Type.String(),
        group: Type.String(),
        parent: nullable(Type.String()),
      }),
    ),
  },
} satisfies Record<string, Field>;
