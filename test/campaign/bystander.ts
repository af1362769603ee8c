/** A thread that asks again and again whether the server is alive, and tells how long each answer took. */
import { parentPort, workerData } from 'node:worker_threads';
import { atRate, type Sample } from './times.ts';

const interval_ms = 20;

const { url, seconds } = workerData as { url: string; seconds: number };
const samples: Sample[] = [];
await atRate(interval_ms, performance.now() + seconds * 1000, async (due) => {
  const answer = await fetch(`${url}/-/liveness`).catch(() => undefined);
  await answer?.arrayBuffer();
  samples.push({ waited_ms: performance.now() - due, ok: answer?.ok ?? false });
});
parentPort!.postMessage(samples);
