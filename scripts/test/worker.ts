// A process in which test files run, one after the other: the product is loaded and compiled once for all of them. runner.ts says which file is next, and
// reporter.ts tells it what happens.
import { once } from 'node:events';
import path from 'node:path';
import { after, describe } from 'node:test';
import { endFile } from '../../test/support/file_end.ts';
import type { Ready, ToWorker } from './messages.ts';

const top = path.resolve(import.meta.dirname, '../..');

// node:test would name what is thrown after the end of a test only at its own end.
process.on('uncaughtExceptionMonitor', (error) => console.error(error));
// The parent process has gone.
process.on('disconnect', () => process.exit(1));

for (;;) {
  globalThis.gc!(); // small processes start git sooner
  process.send!({ type: 'ready', resident_bytes: process.memoryUsage.rss() } satisfies Ready);
  const [{ file }] = (await once(process, 'message')) as [ToWorker];
  // Not by itself, because something that a file left open would keep it running.
  if (file === undefined) process.exit();
  // What the file registers at its top belongs to this suite, hooks included.
  await describe(file, async () => {
    after(endFile);
    await import(path.join(top, file));
  });
}
