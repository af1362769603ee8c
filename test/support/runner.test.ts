import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { type Outcome, runFiles } from '../../scripts/test/runner.ts';

const top = path.resolve(import.meta.dirname, '../..');

async function outcomesOf(t: { after(end: () => Promise<void>): void }, source: string): Promise<Outcome[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-runner-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'some.test.ts'), source);
  const outcomes: Outcome[] = [];
  const files = [path.relative(top, path.join(folder, 'some.test.ts'))];
  await runFiles(files, {
    top,
    processes: 1,
    execArgv: [],
    env: process.env,
    report: (outcome) => outcomes.push(outcome),
  });
  return outcomes;
}

const failed = (outcomes: Outcome[]) =>
  outcomes.flatMap(({ file, events }) =>
    events.some(({ type }) => type === 'test:fail') ? [path.basename(file)] : [],
  );

test('an error after the last test of a process fails the run', async (t) => {
  const late =
    "import { test } from 'node:test'; test('fine', () => { setTimeout(() => { throw new Error('late'); }, 100); });";
  assert.deepEqual(failed(await outcomesOf(t, late)), ['after the last file of a process']);
});

test('open handles of the last test do not keep its process running', async (t) => {
  const open = "import { test } from 'node:test'; test('fine', () => { setInterval(() => {}, 1000); });";
  assert.deepEqual(failed(await outcomesOf(t, open)), []);
});

test('an error outside of a test that waits for ever ends its process', async (t) => {
  const waiting =
    "import { test } from 'node:test'; test('waits', () => { setTimeout(() => { throw new Error('aside'); }, 100); return new Promise(() => {}); });";
  assert.deepEqual(failed(await outcomesOf(t, waiting)), ['some.test.ts']);
});
