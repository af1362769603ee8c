/** CPU scheduling between the server and the processes that work for it. */
import { execFile } from 'node:child_process';

/**
 * Gives a process, and its later children, batch scheduling: when it wakes up, it waits for a processor until the running process pauses, and no longer preempts the
 * event loop that has just written to it (docs/decisions/0061-postgresql-and-git-run-under-sched-batch.md). It changes nothing where Linux's `chrt` is missing or
 * refuses.
 * @param pid of the process, as soon as it has started; undefined where it could not be started
 */
export function letWaitForProcessor(pid: number | undefined): void {
  if (pid !== undefined) execFile('chrt', ['-b', '-p', '0', String(pid)], () => {});
}
