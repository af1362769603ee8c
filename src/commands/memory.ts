/** Collecting garbage beside others who need the processors, and releasing the memory that the start needed. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const quiet_ms = 1000;

/**
 * Collects garbage in ways that leave the processors to requests.
 *
 * Marking has one thread beside the event loop. With up to four, as Node has it, PostgreSQL got no processor on a machine with two while a large heap was marked: at 200
 * requests a second, some waited for 100 to 400 ms every ten seconds.
 *
 * All is marked once the heap and the buffers beside it have doubled. By default that is after they have grown by some ten MB, which thirty commits are enough for: about a
 * tenth of the processor time of creating files went into it.
 */
export function collectRarely(): void {
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  setFlagsFromString('--heap-growing-percent=100');
}

/**
 * Collects garbage once, a moment after the start: reading and compiling modules and schemas took 40 of 170 MB, which would otherwise stay allocated
 * until the server has been busy for long. An ordinary collection keeps the pages; only this kind gives them back, in about a tenth of a second.
 */
export function tidyAfterStart(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: object) => void;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, quiet_ms).unref();
}
