import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ofReports, overallStatus, type State, states } from './rules.ts';

test('several reported statuses combine into one', () => {
  for (const [statuses, word] of [
    [[], null],
    [['skipped'], 'skipped'],
    [['success', 'skipped'], 'success'],
    [['canceled', 'success'], 'canceled'],
    [['pending', 'skipped'], 'pending'],
    [['pending', 'success'], 'running'],
    [['running', 'failed'], 'running'],
    [['failed', 'canceled', 'success'], 'failed'],
  ] as const)
    assert.equal(ofReports(statuses), word, statuses.join());
});

/** What the table in docs/reference/pipelines.md says, written once more in another way: row by row, as conditions on the words. */
function fromTable(jobs: readonly { status: State; allow_failure: boolean }[]): State | null {
  const words: string[] = jobs.map(({ status, allow_failure }) =>
    allow_failure && ['failed', 'canceled'].includes(status)
      ? 'W'
      : allow_failure && status === 'manual'
        ? 'I'
        : status,
  );
  const only = (...allowed: string[]) => words.every((word) => allowed.includes(word));
  const has = (word: string) => words.includes(word);
  if (words.length === 0) return null;
  if (only('skipped', 'I')) return 'skipped';
  if (only('success', 'skipped', 'W', 'I')) return 'success';
  if (only('created', 'W', 'I')) return 'created';
  if (only('preparing', 'W', 'I')) return 'preparing';
  if (only('canceled', 'success', 'skipped', 'W', 'I')) return 'canceled';
  if (only('pending', 'created', 'skipped', 'W', 'I')) return 'pending';
  if (has('canceling')) return 'canceling';
  if (has('running') || has('pending')) return 'running';
  for (const word of ['waiting_for_resource', 'manual', 'scheduled', 'preparing'] as const) if (has(word)) return word;
  return has('created') ? 'running' : 'failed';
}

test('every combination of up to three jobs has the state that the table gives it', () => {
  const every = states.flatMap((status) => [true, false].map((allow_failure) => ({ status, allow_failure })));
  for (const one of every)
    for (const other of [undefined, ...every])
      for (const third of [undefined, ...every]) {
        const jobs = [one, other, third].filter((job) => job !== undefined);
        assert.equal(overallStatus(jobs), fromTable(jobs), JSON.stringify(jobs));
      }
});
