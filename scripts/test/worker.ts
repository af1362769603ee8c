// A process in which test files run, one after the other: the product is loaded and compiled once for all of them. runner.ts says which file is next, and
// reporter.ts tells it what happens.
import { once } from 'node:events';
import path from 'node:path';
import { after, describe } from 'node:test';
import { endFile } from '../../test/support/file_end.ts';
import type { Ready, ToWorker } from './messages.ts';

/** How long a process waits for what its last file has left under way. */
const grace_ms = 500;

const top = path.resolve(import.meta.dirname, '../..');

// node:test would name what is thrown after the end of a test only at its own end.
process.on('uncaughtExceptionMonitor', (error) => console.error(error));
// The parent process has gone.
process.on('disconnect', () => process.exit(1));

for (;;) {
  globalThis.gc!(); // small processes start git sooner
  process.send!({ type: 'ready', resident_bytes: process.memoryUsage.rss() } satisfies Ready);
  const [{ file }] = (await once(process, 'message')) as [ToWorker];
  if (file === undefined) break;
  // What the file registers at its top belongs to this suite, hooks included.
  await describe(file, async () => {
    after(endFile);
    await import(path.join(top, file));
  });
}

// What the last file has left may still throw, and must be heard. What it has left open must not keep the process running.
setTimeout(() => process.exit(), grace_ms).unref();
process.channel?.unref();
