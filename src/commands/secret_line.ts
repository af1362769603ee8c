/** Reads a secret that a person types or a program pipes. */
import { createInterface } from 'node:readline';

/**
 * The first line of the input, without its end. A terminal does not echo the input.
 * @param prompt printed to standard error at a terminal
 * @returns an empty text when the input ends first, also by Ctrl-C
 */
export async function secretLine(input: NodeJS.ReadableStream & { isTTY?: boolean }, prompt: string): Promise<string> {
  const terminal = input.isTTY === true;
  if (terminal) process.stderr.write(prompt);
  // Without an output, nothing is echoed.
  const lines = createInterface({ input, terminal, historySize: 0 });
  try {
    return await new Promise((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
    if (terminal) process.stderr.write('\n');
  }
}
