/** Building Go programs that tests run. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

// Unoptimised and without C, a first build takes half as long.
const buildOptions = ['-gcflags=all=-N -l', '-ldflags=-s -w'];

/**
 * Builds a program of a module, whose `go.mod` pins everything. Another toolchain than the installed one is not fetched.
 * @param source folder of the module
 * @param of the package to build
 * @param into folder for the program
 * @returns where the program is, or in words why it cannot be had on this machine
 */
export async function buildGo(
  source: string,
  of: string,
  into: string,
): Promise<{ program: string } | { missing: string }> {
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' };
  const run = (...args: string[]) => promisify(execFile)('go', args, { cwd: source, env });
  try {
    await run('mod', 'download');
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    return { missing: `Modules of Go cannot be had: ${stderr.trim().split('\n').at(-1) || message}` };
  }
  const program = path.join(into, 'program');
  await run('build', ...buildOptions, '-o', program, of);
  return { program };
}
