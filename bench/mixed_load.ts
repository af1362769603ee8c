/**
 * The mix of requests of the campaign at a steady rate, each sent when its time has come: what an answer costs when there are others, and what of it is waiting.
 * BENCH_MIXED_SECONDS says for how long at most each rate is sent.
 */
import path from 'node:path';
import { seeded, sendSteadily } from '../test/campaign/load_mix.ts';
import { type Instance, startInstance } from './instance.ts';
import { measuredFrom } from './measure.ts';
import { plainRow, type Row } from './table.ts';

const most_seconds = Number(process.env.BENCH_MIXED_SECONDS ?? Infinity);
/** A server that has just started compiles its code and plans its statements, and compiles more of it when more is asked. */
const warmUp_s = 10;

type Seed = Awaited<ReturnType<typeof seeded>>;

async function atSteadyRate(
  instance: Instance,
  seed: Seed,
  rate: number,
  minutes: number,
  most_ms: number,
): Promise<Row> {
  const seconds = Math.min(minutes * 60, most_seconds);
  await sendSteadily(seed, instance.url, rate, warmUp_s);
  const before_ms = await instance.cpu_ms();
  await instance.longestBlock_ms();
  const answers = await sendSteadily(seed, instance.url, rate, seconds);
  const failed = answers.filter(({ status }) => status < 200 || status >= 300).length;
  const measured = {
    ...measuredFrom(answers.map(({ waited_ms }) => waited_ms)),
    cpu_ms: ((await instance.cpu_ms()) - before_ms) / answers.length,
    block_ms: await instance.longestBlock_ms(),
  };
  return plainRow(
    `mixed load, ${rate}/s for ${seconds} s`,
    `${failed} errors`,
    `P99 ≤ ${most_ms} ms, no error`,
    measured,
  );
}

/** @param folder for the data of the instance */
export async function measureMixedLoad(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'mixed_load'), { COPPICE_CONNECTIONS_PER_ADDRESS: '100000' });
  try {
    const seed = await seeded(instance.api);
    return [
      await atSteadyRate(instance, seed, 200, 1, 25),
      await atSteadyRate(instance, seed, 400, 1, 50),
      await atSteadyRate(instance, seed, 800, 5, 100),
    ];
  } finally {
    await instance.stop();
  }
}
