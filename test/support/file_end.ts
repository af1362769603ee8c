/**
 * What goes when a test file ends. Files share processes, and with them these modules: what a module here keeps for a file, it gives up by `atFileEnd`, since
 * a hook at its top would belong to the first file alone.
 */
import { after } from 'node:test';

type End = () => unknown;

const ends: End[] = [];

/** Runs `end` after the tests of the file that runs now; what was made last goes first. */
export function atFileEnd(end: End): void {
  ends.push(end);
}

/** Ends the file. Everything is tried; the first error is thrown. */
export async function endFile(): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

// For a file that has a process for itself, as with `node --test`. scripts/test/worker.ts calls it for each of its files.
after(endFile);
