/**
 * A thread that asks again and again whether the server is alive, and tells how long each answer took. What it waits for a processor itself is no time of the
 * server: it counts from when it has asked, its client does next to nothing, and it is preferred where the system allows that.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Connections } from './plain_http.ts';
import { atRate, type Sample } from './times.ts';

const interval_ms = 20;

const { url, seconds } = workerData as { url: string; seconds: number };
const request = `GET /-/liveness HTTP/1.1\r\nhost: ${new URL(url).host}\r\n\r\n`;
const connections = new Connections(url);
const samples: Sample[] = [];
try {
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  // Only root may.
}
await atRate(interval_ms, performance.now() + seconds * 1000, async () => {
  const asked = performance.now();
  const { status } = await connections.send(request);
  samples.push({ waited_ms: performance.now() - asked, ok: status === 200 });
});
connections.close();
parentPort!.postMessage(samples);
