/** The process that starts git (docs/decisions/0029-a-small-process-starts-git.md). */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The process that starts git for another one, and the folder of their socket. */
export async function launcherOf(server: number): Promise<{ pid: number; folder: string }> {
  const children = (await readFile(`/proc/${server}/task/${server}/children`, 'utf8')).trim().split(' ');
  for (const child of children) {
    const [, program, address] = (await readFile(`/proc/${child}/cmdline`, 'utf8')).split('\0');
    if (program?.includes('launcher_process')) return { pid: Number(child), folder: path.dirname(address!) };
  }
  throw new Error('there is none');
}
