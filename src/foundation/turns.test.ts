import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { workFor } from './clients.ts';
import { TooMuchWaiting } from './fair_threads.ts';
import { Turns } from './turns.ts';

test('one client has half of the slots, and its further work waits for none of the others', async () => {
  const turns = new Turns(4, 5);
  const begun: string[] = [];
  const end: Record<string, () => void> = {};
  const run = (source: string, name: string) =>
    workFor({ source }, () =>
      turns.run(async () => {
        begun.push(name);
        await new Promise<void>((resolve) => {
          end[name] = resolve;
        });
      }),
    );
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2', 'a5'].map((name) => run(name[0]!, name));
  await turn();
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1']);
  end.c1!();
  await turn();
  assert.deepEqual(begun.slice(4), ['b2']);
  end.a1!();
  end.b1!();
  await turn();
  assert.deepEqual([begun.slice(5), turns.waiting], [['a3'], 2]);
  const more = ['a6', 'a7', 'a8'].map((name) => run('a', name));
  await assert.rejects(run('a', 'a9'), TooMuchWaiting);
  for (const name of ['a2', 'a3', 'b2', 'a4', 'a5', 'a6', 'a7', 'a8']) {
    end[name]!();
    await turn();
  }
  await Promise.all([...all, ...more]);
  assert.equal(turns.waiting, 0);
});
