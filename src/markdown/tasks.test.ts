import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskCompletion, taskStatus, tickedTasks, withTicks } from './index.ts';
import { atOnce } from './slices.ts';
import { taskItems } from './tasks.ts';

const texts = (text: string) => atOnce(taskItems(text)).map((item) => `${item.done ? 'x' : '_'} ${item.text}`);

test('every list mark can start a task, also in quotations and after several marks', async () => {
  const text = [
    '- [ ] dash',
    '+ [x] plus',
    '* [X] star',
    '1. [ ] number',
    '  - [x] nested',
    '> - [ ] quoted',
    '> > 2. [x] twice quoted',
    '- - [ ] twice marked',
    '- 1. [ ] marked and numbered',
    '-\t[ ]\ttabs',
  ].join('\n');
  assert.deepEqual(texts(text), [
    '_ dash',
    'x plus',
    'x star',
    '_ number',
    'x nested',
    '_ quoted',
    'x twice quoted',
    '_ twice marked',
    '_ marked and numbered',
    '_ tabs',
  ]);
  assert.deepEqual(await taskCompletion(text), { count: 10, completed_count: 4 });
});

test('a box without a list, without a blank or without a text is no task', async () => {
  const text = [
    '[ ] alone',
    '-[ ] close',
    '- []',
    '- [ ]',
    '- [ ]  ',
    '- [y] other',
    '- [ ]close',
    '- x [ ] later',
    '1) [ ] bracket',
  ];
  assert.deepEqual(texts(text.join('\n')), []);
});

test('code and comments contain no tasks', async () => {
  const text = [
    '```',
    '- [ ] fenced',
    '```',
    '- [ ] one',
    '  ~~~ruby',
    '  - [ ] fenced in an item',
    '  ```',
    '  ~~~',
    '- [x] two',
    '',
    'text',
    '',
    '    - [ ] indented',
    '',
    '<!--',
    '- [ ] commented',
    '-->',
    '- [ ] three',
    '',
    '    - [ ] four, inside three',
    '',
    '          - [ ] indented in four',
  ];
  assert.deepEqual(texts(text.join('\n')), ['_ one', 'x two', '_ three', '_ four, inside three']);
  assert.deepEqual(texts(text.join('\r\n')), ['_ one', 'x two', '_ three', '_ four, inside three']);
});

test('an unclosed fence reaches to the end of its quotation or of the text', async () => {
  assert.deepEqual(texts('> ```\n> - [ ] in it\n- [ ] behind it'), ['_ behind it']);
  assert.deepEqual(texts('- [ ] before\n```\n- [ ] in it'), ['_ before']);
});

test('the status counts one item or several', async () => {
  assert.equal(taskStatus(await taskCompletion('- [ ] a')), '0 of 1 checklist item completed');
  assert.equal(taskStatus(await taskCompletion('- [ ] a\n- [x] b')), '1 of 2 checklist items completed');
  assert.deepEqual(await taskCompletion(null), { count: 0, completed_count: 0 });
});

test('ticks are distinguished from other changes', async () => {
  const before = '- [ ] a\n- [x] b\n- [ ] c';
  assert.deepEqual(await tickedTasks(before, '- [x] a\n- [ ] b\n- [ ] c'), [
    { text: 'a', done: true },
    { text: 'b', done: false },
  ]);
  assert.deepEqual(await tickedTasks(before, '- [ ] a\n- [x] other\n- [ ] c'), []);
  assert.deepEqual(await tickedTasks(before, before), []);
  assert.deepEqual(await tickedTasks(null, '- [x] a'), []);
});

test('boxes are ticked in the text, and nothing else changes', () => {
  const text = 'a\r\n- [ ] b\n> 1. [x] c\r\n- [ ] d\n- e\n';
  assert.equal(withTicks(text, new Set([1, 2, 3, 4, 9]), new Set([1])), 'a\r\n- [x] b\n> 1. [ ] c\r\n- [ ] d\n- e\n');
  assert.equal(withTicks('- [X] a\n- [x] b', new Set([0]), new Set([0])), '- [X] a\n- [x] b');
  assert.equal(withTicks(text, new Set(), new Set([1])), text);
});
