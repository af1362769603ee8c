import assert from 'node:assert/strict';
import { test } from 'node:test';
import { face, label, lettersOf, mergeRequestState, momentInWords, state } from './marks.ts';

test('moments are shown by their distance, and those far away by their date', () => {
  const now = Date.parse('2026-11-29T12:00:00Z');
  const shown = (at: string) => momentInWords(new Date(at), now);
  assert.deepEqual(
    [
      '2026-11-29T11:59:30Z',
      '2026-11-29T12:00:30Z',
      '2026-11-29T11:58:59Z',
      '2026-11-29T10:30:00Z',
      '2026-11-28T12:00:00Z',
      '2026-10-31T12:00:00Z',
      '2026-10-30T12:00:00Z',
      '2025-03-12T12:00:00Z',
      '2026-11-29T15:00:00Z',
      '2027-03-12T12:00:00Z',
    ].map(shown),
    [
      ...['just now', 'just now', '1 minute ago', '1 hour ago', '1 day ago', '29 days ago'],
      ...['30 Oct', '12 Mar 2025', 'in 3 hours', '12 Mar 2027'],
    ],
  );
});

test('letters stand for a name', () => {
  assert.deepEqual(
    ['Ada Lovelace', 'ada', 'Rosa María de la Cruz', '李 小龍', '🍎', '', 'project_41_bot'].map(lettersOf),
    ['AL', 'AD', 'RC', '李', '🍎', '?', 'PB'],
  );
});

test('a face is the uploaded picture, or letters on a colour that follows the id', () => {
  const avatar_url = 'https://git.example/uploads/-/system/user/avatar/1/a.png';
  assert.match(String(face({ id: 1, name: 'Ada', avatar_url })), /<img class="face round" src="\/uploads\//);
  assert.match(String(face({ id: 11, name: '<b>' })), /hue3" data-letters="B"/);
  assert.match(String(face({ name: 'a' }, 'square')), /face square hue1/);
});

test('labels show their scope apart, and link to the list', () => {
  const shown = String(label('priority::high', '#ff0000', '/g/p/-/issues?labels=priority%3A%3Ahigh'));
  assert.match(shown, /^<a class="label" href="\/g\/p\/-\/issues\?labels=priority%3A%3Ahigh">/);
  assert.match(shown, /<i>priority<\/i>high<\/a>$/);
  assert.equal(String(label('::')), '<span class="label">::</span>');
});

test('states have a colour, an icon and a word; a closed merge request was refused', () => {
  assert.match(String(state('opened')), /^<span class="state good"><svg .*<\/svg>Open<\/span>$/);
  assert.match(String(state('closed')), /state done/);
  assert.match(String(mergeRequestState('closed')), /state bad.*Closed/);
  assert.match(String(state('waiting_for_resource')), /state soft.*Waiting for resource/);
});
