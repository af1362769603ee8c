/** Programs with a client that tell stories to a server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after } from 'node:test';

export interface Teller {
  /** @returns what was raised, if anything */
  tell(story: string, place: object): Promise<string | null>;
}

/**
 * Starts the program that tells all stories of a client until the test file ends: most of the time of one would go into loading the client.
 * A line of its input names a story and its place as JSON. A line of its output says how the story ended: null, or what was raised.
 */
export function startTeller(program: string, ...args: string[]): Teller {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  after(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  return {
    tell: async (story, place) => {
      child.stdin.write(`${JSON.stringify({ story, place })}\n`);
      const { value, done } = await lines.next();
      return done ? 'the program has ended' : JSON.parse(value);
    },
  };
}
