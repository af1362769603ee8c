import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growsTooFast, hostileUnits } from '../../../../../test/support/growth.ts';
import { referencesIn } from '../../../../markdown/index.ts';
import { atOnce } from '../../../../markdown/slices.ts';
import { editsOf, type Moved, textHere } from './text_rules.ts';

const moved: Moved = {
  source_url: 'https://git.example.com/forge',
  url: 'https://coppice.test',
  place: 'orchard/apples',
  paths: new Map([
    ['orchard', 'new/garden'],
    ['orchard/apples', 'new/garden/apples'],
    ['orchard/pears', 'new/garden/birnen'],
  ]),
  groups: new Map([['meadow', 'new/meadow']]),
  project_ids: new Map([[7, 70]]),
  group_ids: new Map([[3, 30]]),
  usernames: new Map([
    ['ada', 'ada.l'],
    ['bob', undefined],
  ]),
};
const here = (text: string) => textHere(text, moved);

test('references to migrated records are rewritten to their names here', async () => {
  const cases: [string, string][] = [
    [
      'See orchard/pears#1, orchard/apples!2 and pears#3.',
      'See new/garden/birnen#1, new/garden/apples!2 and new/garden/birnen#3.',
    ],
    ['meadow/Deep/fork#1 meadow#1 deep#1', 'new/meadow/Deep/fork#1 meadow#1 deep#1'],
    ['orchard&4 orchard/pears%"A b" orchard/pears~bug', 'new/garden&4 new/garden/birnen%"A b" new/garden/birnen~bug'],
    ['#1 !2 &3 %4 ~bug other/place#1 fix/#1', '#1 !2 &3 %4 ~bug other/place#1 fix/#1'],
    ['Thanks @Ada, @orchard and @orchard/pears.', 'Thanks @ada.l, @new/garden and @new/garden/birnen.'],
    ['@bob, @carol! mail me@bob.example @all', '`@bob`, `@carol`! mail me@bob.example `@all`'],
    [
      'https://git.example.com/forge/Orchard/Pears/-/issues/1#note_2',
      'https://coppice.test/new/garden/birnen/-/issues/1#note_2',
    ],
    ['(https://git.example.com/forge/orchard/pears). ', '(https://coppice.test/new/garden/birnen). '],
    [
      '[x](https://git.example.com/forge/groups/orchard/-/epics/1)',
      '[x](https://coppice.test/groups/new/garden/-/epics/1)',
    ],
    [
      'https://git.example.com/forge/orchard/plums/-/issues/1',
      'https://git.example.com/forge/orchard/plums/-/issues/1',
    ],
    [
      'https://git.example.com/forged/orchard https://evil.example/orchard',
      'https://git.example.com/forged/orchard https://evil.example/orchard',
    ],
    [
      '![a](/-/project/7/uploads/0f/a.png) [b](/-/group/3/uploads/0f/b)',
      '![a](/-/project/70/uploads/0f/a.png) [b](/-/group/30/uploads/0f/b)',
    ],
    [
      'https://git.example.com/forge/-/project/7/uploads/0f/a.png',
      'https://coppice.test/-/project/70/uploads/0f/a.png',
    ],
    [
      '![a](/uploads/0f/a.png) ![a](/-/project/8/uploads/0f/a.png)',
      '![a](/uploads/0f/a.png) ![a](/-/project/8/uploads/0f/a.png)',
    ],
    ['', ''],
  ];
  for (const [text, expected] of cases) assert.equal(await here(text), expected);
});

test('code, comments and escaped marks stay as they are', async () => {
  const texts = [
    '`@bob orchard/pears#1` \\@bob <!-- @bob -->',
    '```\n@bob https://git.example.com/forge/orchard\n```',
    'a\n\n    @bob orchard/pears#1\n',
    '``a ` @bob``',
  ];
  for (const text of texts) assert.equal(await here(text), text);
});

test('no backticks in a text turn a mention into one of another user', async () => {
  const texts = [
    'a ` b @bob',
    '`@bob',
    '@bob`',
    '` @bob ` @bob `',
    '`` @bob `',
    'x\\\\@bob',
    '@bob@bob',
    '@bob\n@bob',
    '*@bob*',
    '- `@bob\n- @bob`',
  ];
  const runs = Array.from({ length: 12 }, (_, index) => '`'.repeat(index + 1)).join(' x ');
  for (const text of [...texts, `${runs} @bob`]) {
    const users = (await referencesIn(await here(text))).filter(({ kind }) => kind === 'user');
    assert.deepEqual(users, [], text);
  }
});

test('hostile texts take linear time', () => {
  const units = [
    '@bob ',
    '`@bob',
    '`',
    'orchard/',
    'orchard/pears#1 ',
    'https://git.example.com/forge/',
    'https://git.example.com/forge/orchard',
    '](',
    '](/-/project/7/uploads/a',
    '\\',
    '.',
  ];
  const address = (unit: string) => (count: number) =>
    atOnce(editsOf(`${moved.source_url}/${unit.repeat(count)}x`, moved));
  for (const unit of ['.', '/', '/-', 'orchard/', ').']) assert.ok(!growsTooFast(address(unit)), unit);
  for (const unit of [...units, ...hostileUnits])
    assert.ok(!growsTooFast((count) => atOnce(editsOf(unit.repeat(count), moved))), unit);
});
