/**
 * Collects garbage without taking processors from other processes, and releases memory while the server is idle
 * (docs/decisions/0064-memory-is-released-when-it-is-quiet.md).
 */
import { subscribe } from 'node:diagnostics_channel';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects garbage in ways that leave the processors to requests.
 *
 * Marking has one thread beside the event loop. With up to four, as Node has it, PostgreSQL got no processor on a machine with two while a large heap was marked: at 200
 * requests a second, some waited for 100 to 400 ms every ten seconds.
 *
 * All is marked once the heap and the buffers beside it have doubled. By default that is after they have grown by some ten MB, which thirty commits are enough for: about a
 * tenth of the processor time of creating files went into it.
 *
 * While few requests come, V8 collects all garbage, too, but does not release memory: moving everything for that takes it 20 to 40 ms, in which a request may come.
 */
export function collectRarely(): void {
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--no-memory-reducer-favors-memory');
}

/** Collects all garbage and returns its pages to the system, which takes about a tenth of a second. An ordinary collection keeps the pages. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

const afterStart_ms = 5000;
const watched_ms = 10_000;
/** Monitoring requests come about this often. */
const maximumAtRest = 3;
const restsBefore = 3;
/** Releasing less is not worth a tenth of a second. */
const leastReleased_bytes = 32 * 1024 * 1024;

/**
 * Releases memory shortly after the start, because reading and compiling modules and schemas took 40 of 170 MB, and whenever it has grown and there were hardly any
 * HTTP requests for half a minute.
 */
export function releaseMemory(release = collectAll): void {
  setTimeout(() => {
    release();
    let kept_bytes = process.memoryUsage.rss();
    let [requests, rests] = [0, 0];
    subscribe('http.server.request.start', () => {
      requests += 1;
    });
    setInterval(() => {
      rests = requests <= maximumAtRest ? rests + 1 : 0;
      requests = 0;
      if (rests < restsBefore || process.memoryUsage.rss() - kept_bytes < leastReleased_bytes) return;
      release();
      kept_bytes = process.memoryUsage.rss();
    }, watched_ms).unref();
  }, afterStart_ms).unref();
}
