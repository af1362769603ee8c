// A process in which test files run, one after the other: the product is loaded and compiled once for all of them. runner.ts says which file is next, and
// reporter.ts sends it the events.
import { type AsyncHook, createHook } from 'node:async_hooks';
import { once } from 'node:events';
import path from 'node:path';
import { after, describe } from 'node:test';
import { endFile, endProcess } from '../../test/support/file_end.ts';
import { largest_bytes, type Ready, type ToWorker } from './messages.ts';

/** How long a process waits for what its last file has left under way. */
const grace_ms = 500;

const top = path.resolve(import.meta.dirname, '../..');

// What is thrown outside of a test may keep the test waiting for ever.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => {
    console.error(error);
    process.exit(1);
  });
// The parent process has exited.
process.on('disconnect', () => process.exit(1));

// Each command takes over the signals of its process, in which tests run many of them: a warning would be among what a command prints.
process.setMaxListeners(0);

/** The memory of this process, after a garbage collection if that is worth the time. */
function residentBytes(): number {
  if (process.memoryUsage.rss() > largest_bytes) globalThis.gc!();
  return process.memoryUsage.rss();
}

/**
 * By this hook node:test finds the suite of a test that is registered. It follows each promise, which would be a quarter of what this process does: it rests while
 * tests run, which register theirs by their context (`t.test`, `t.after`).
 */
let registering: AsyncHook | undefined;
const hooks: AsyncHook = Object.getPrototypeOf(createHook({}));
const { enable } = hooks;
hooks.enable = function () {
  registering = this;
  hooks.enable = enable;
  return this.enable();
};

for (;;) {
  process.send!({ type: 'ready', resident_bytes: residentBytes() } satisfies Ready);
  const [{ file }] = (await once(process, 'message')) as [ToWorker];
  if (file === undefined) break;
  // What the file registers at its top belongs to this suite, hooks included.
  registering?.enable();
  await describe(file, async () => {
    after(endFile);
    try {
      await import(path.join(top, file));
    } finally {
      registering!.disable();
    }
  });
}

await endProcess();
// Leftovers of the last file may still throw, and these errors must be reported. Its open handles must not keep the process running.
setTimeout(() => process.exit(), grace_ms).unref();
process.channel?.unref();
