import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { nullable, since } from '../http/index.ts';
import type { Fields } from './field.ts';
import { controlsOf, creationOf, editOf, givenColumns, hookChanges, valuesOf } from './read_off.ts';

const fields = {
  id: { column: 'kept', reply: Type.Integer() },
  title: { column: 'given', input: Type.String(), is_required: true, hook: true, control: { label: 'Title' } },
  weight: {
    column: 'given',
    input: since('premium', nullable(Type.Integer())),
    hook: true,
    control: { label: 'Weight', kind: 'number' },
  },
  is_locked: {
    column: 'given',
    update: Type.Boolean(),
    control: { label: 'Locked', kind: 'checkbox', only_edits: true },
  },
  state_event: { update: Type.Enum(['close', 'reopen']) },
  label: { input: Type.String(), control: { label: 'Label', kind: 'select' } },
} satisfies Fields;

const namesOf = (controls: readonly { name: string }[]) => controls.map(({ name }) => name);

test('a form has the controls of its kind, without those above the plan and selects without options', () => {
  const shown = (is_new: boolean, plan: 'free' | 'premium', options = {}) =>
    namesOf(controlsOf(fields, { is_new, plan, values: {}, options }));
  assert.deepEqual(shown(true, 'free'), ['title']);
  assert.deepEqual(shown(true, 'premium'), ['title', 'weight']);
  assert.deepEqual(shown(false, 'free'), ['title', 'is_locked']);
  assert.deepEqual(shown(true, 'free', { label: [{ value: 'a', label: 'A' }] }), ['title', 'label']);
});

test('a control shows the value of the item', () => {
  const [title, locked] = controlsOf(fields, { is_new: false, plan: 'free', values: { title: 'Beans' } });
  assert.deepEqual([title?.value, locked?.value], ['Beans', false]);
});

test('creation and changes have the parameters that they share, and their own', () => {
  assert.deepEqual(Object.keys(creationOf(fields)), ['title', 'weight', 'label']);
  assert.deepEqual(Object.keys(editOf(fields)), ['title', 'weight', 'label', 'is_locked', 'state_event']);
  assert.deepEqual(Type.Object(creationOf(fields)).required, ['title']);
});

test('a new row takes what is given, and leaves nulls to the defaults of the table', () => {
  assert.deepEqual(givenColumns(fields), ['title', 'weight', 'is_locked']);
  assert.deepEqual(valuesOf(fields, { title: 'Beans', weight: null, is_locked: undefined }), { title: 'Beans' });
});

test('webhooks list the changes of the fields that say so', () => {
  const before = { title: 'Beans', weight: 1, is_locked: false };
  assert.deepEqual(hookChanges(fields, before, { title: 'Beans', weight: 2, is_locked: true }), {
    weight: { previous: 1, current: 2 },
  });
});
