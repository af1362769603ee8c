import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as rules from './extraction_rules.ts';

const extractCommands = (text: string) => rules.extractCommands(text, { commands: [] });

const names = (text: string) => extractCommands(text).commands.map(({ name, argument }) => `${name} ${argument}`.trim());

test('a line that begins with a command is taken out of its text', () => {
  assert.deepEqual(extractCommands('Before\n/close\n/label ~a ~"b c"  \r\nAfter'), {
    text: 'Before\nAfter',
    commands: [
      { name: 'close', argument: '' },
      { name: 'label', argument: '~a ~"b c"' },
    ],
  });
  assert.deepEqual(extractCommands('/Close\n\n/TODO'), {
    text: '',
    commands: [
      { name: 'close', argument: '' },
      { name: 'todo', argument: '' },
    ],
  });
  assert.equal(extractCommands('\n\nText\n\n/close\n').text, 'Text');
});

test('what is no command stays as it is written', () => {
  for (const text of [
    '',
    'Nothing\r\n\r\nhere \n',
    '/unknown thing',
    '/closed',
    '/close-it',
    'See /close',
    ' /close',
    '/ close',
    '//close',
    '/cc @somebody',
    '```\n/close\n```',
    '~~~\n/close',
    '    /close',
    '> /close',
    '> quoted\n/close',
    '- item\n\n      /close',
    '/toString',
    '/__proto__',
  ])
    assert.deepEqual(extractCommands(text), { text, commands: [] }, JSON.stringify(text));
});

test('code beside commands stays, and the commands go', () => {
  const text = '```\n/close\n```\n/reopen\n\n> /close\n\n/title x';
  assert.deepEqual(names(text), ['reopen', 'title x']);
  assert.equal(extractCommands(text).text, '```\n/close\n```\n\n> /close');
});

test('drawings are text', () => {
  assert.deepEqual(extractCommands('/shrug who knows\n/tableflip'), {
    text: 'who knows ¯\\＿(ツ)＿/¯\n(╯°□°)╯︵ ┻━┻',
    commands: [],
  });
});

test('a text has a limited number of commands', () => {
  const { commands, text } = extractCommands('/close\n'.repeat(150));
  assert.equal(commands.length, 100);
  assert.equal(text.split('\n').length, 50);
});
