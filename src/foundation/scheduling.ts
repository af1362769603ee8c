/** How the kernel shares the processors between the server and the processes that work for it. */
import { execFile } from 'node:child_process';

/**
 * Lets a process, and those that it starts from then on, wait for a processor until whatever runs there pauses: waking up, it no longer interrupts the event loop that has
 * just written to it (docs/decisions/0061-postgresql-and-git-run-under-sched-batch.md). It changes nothing where Linux's `chrt` is missing or refuses.
 * @param pid of the process, as soon as it has started; undefined where it could not be started
 */
export function letWaitForProcessor(pid: number | undefined): void {
  if (pid !== undefined) execFile('chrt', ['-b', '-p', '0', String(pid)], () => {});
}
