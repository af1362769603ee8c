/**
 * What goes when a test file or its process ends. Files share processes, and with them these modules: what a module here keeps for a file, it gives up by
 * `atFileEnd`, since a hook at its top would belong to the first file alone.
 */
import { after } from 'node:test';

type End = () => unknown;

const ends: Record<'file' | 'process', End[]> = { file: [], process: [] };

/** Runs `end` after the tests of the current file, in reverse order of registration. */
export function atFileEnd(end: End): void {
  ends.file.push(end);
}

/** Runs `end` after the last file of this process, in reverse order of registration. */
export function atProcessEnd(end: End): void {
  ends.process.push(end);
}

/** Ends the file. Everything is tried; the first error is thrown. */
export const endFile = (): Promise<void> => endAll(ends.file);

/** Ends what files have shared, in the same way. */
export const endProcess = (): Promise<void> => endAll(ends.process);

async function endAll(waiting: End[]): Promise<void> {
  const errors: unknown[] = [];
  for (const end of waiting.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

// Without scripts/test/worker.ts, which ends its files itself, a file has a process for itself, as with `node --test`.
if (process.send === undefined)
  after(async () => {
    try {
      await endFile();
    } finally {
      await endProcess(); // a server that goes on would keep the process alive
    }
  });
