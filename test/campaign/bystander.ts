/**
 * A thread that sends a request again and again, and tells how long each answer took. What it waits for a processor itself is no time of the
 * server: it counts from when it has asked, its client does next to nothing, and it is preferred where the system allows that.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Connections } from './plain_http.ts';
import { atRate, type Sample } from './times.ts';

export interface Bystander {
  url: string;
  seconds: number;
  /** What it asks for: by default whether the server is alive, which is answered however busy the server is. */
  path?: string;
  interval_ms?: number;
}

const { url, seconds, path = '/-/liveness', interval_ms = 20 } = workerData as Bystander;
const request = `GET ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n\r\n`;
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
