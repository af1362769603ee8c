import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowClock, turnsDuring } from '../../../../test/support/turns.ts';
import { labelDetails, presentLabelsOf } from './present.ts';

const label = (id: number) => ({
  id,
  title: `label ${id}`,
  description: `*${id}*`,
  color: '#112233',
  archived: false,
  project_id: 1,
  group_id: null,
});

test('a label that many items of a page have is presented once', async () => {
  const [often, seldom] = [label(1), label(2)];
  const borne = [
    { id: 10, labels: [often, seldom] },
    { id: 11, labels: [{ ...often }] },
  ];
  const shown = await presentLabelsOf(borne, true);
  assert.equal(shown.get(11)![0], shown.get(10)![0]);
  assert.deepEqual(
    [...(await presentLabelsOf(borne))],
    [
      [10, ['label 1', 'label 2']],
      [11, ['label 1']],
    ],
  );
});

test('other requests are served between labels with slow descriptions', async (t) => {
  slowClock(t);
  let details: Awaited<ReturnType<typeof labelDetails>> = new Map();
  const turns = await turnsDuring(async () => {
    details = await labelDetails(Array.from({ length: 20 }, (_, index) => label(index)));
  });
  assert.equal(details.get(7)?.description_html, '<em>7</em>');
  assert.ok(turns >= 10, `${turns} turns`);
});
