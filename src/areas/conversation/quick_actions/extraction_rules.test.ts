import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from './definition.ts';
import * as rules from './extraction_rules.ts';

const extractCommands = (text: string) => rules.extractCommands(text, { commands: [] });

const names = async (text: string) =>
  (await extractCommands(text)).commands.map(({ name, argument }) => `${name} ${argument}`.trim());

test('a line that starts with a command is removed from the text', async () => {
  assert.deepEqual(await extractCommands('Before\n/close\n/label ~a ~"b c"  \r\nAfter'), {
    text: 'Before\nAfter',
    commands: [
      { name: 'close', argument: '' },
      { name: 'label', argument: '~a ~"b c"' },
    ],
  });
  assert.deepEqual(await extractCommands('/Close\n\n/TODO'), {
    text: '',
    commands: [
      { name: 'close', argument: '' },
      { name: 'todo', argument: '' },
    ],
  });
  assert.equal((await extractCommands('\n\nText\n\n/close\n')).text, 'Text');
});

test('text that is not a command stays unchanged', async () => {
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
    assert.deepEqual(await extractCommands(text), { text, commands: [] }, JSON.stringify(text));
});

test('commands are removed, but not from code', async () => {
  const text = '```\n/close\n```\n/reopen\n\n> /close\n\n/title x';
  assert.deepEqual(await names(text), ['reopen', 'title x']);
  assert.equal((await extractCommands(text)).text, '```\n/close\n```\n\n> /close');
});

test('drawings become text', async () => {
  assert.deepEqual(await extractCommands('/shrug who knows\n/tableflip'), {
    text: 'who knows ¯\\＿(ツ)＿/¯\n(╯°□°)╯︵ ┻━┻',
    commands: [],
  });
});

test('the number of commands in a text is limited', async () => {
  const { commands, text } = await extractCommands('/close\n'.repeat(150));
  assert.equal(commands.length, 100);
  assert.equal(text.split('\n').length, 50);
});

test('a command that only one noun has is text on the others', async () => {
  const prune: Definition = { names: ['prune', 'cut'], needs: 'plan', apply: () => 'Pruned.' };
  const text = 'Before\n/cut low';
  assert.deepEqual(await rules.extractCommands(text, { commands: [prune] }), {
    text: 'Before',
    commands: [{ name: 'cut', argument: 'low' }],
  });
  assert.deepEqual(await extractCommands(text), { text, commands: [] });
});
