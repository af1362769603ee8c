/** What a process and everything it has started take of the machine, as Linux tells in /proc. */
import { readdir, readFile } from 'node:fs/promises';

/** Of `times` in /proc: a hundredth of a second on every platform that Node runs on. */
const tick_ms = 10;

interface Process {
  pid: number;
  parent: number;
  /** Its own time, and that of its children that have ended. */
  cpu_ms: number;
}

/** A process that has just ended is left out. */
async function processOf(pid: string): Promise<Process[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return [];
  // After the name, which is in parentheses and may contain blanks: state, parent, …
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, time) => sum + Number(time), 0);
  return [{ pid: Number(pid), parent: Number(fields[1]), cpu_ms: ticks * tick_ms }];
}

async function treeOf(root: number): Promise<Process[]> {
  const names = await readdir('/proc');
  const all = (await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(processOf))).flat();
  const children = Map.groupBy(all, ({ parent }) => parent);
  const below = (process: Process): Process[] => [process, ...(children.get(process.pid) ?? []).flatMap(below)];
  return all.filter(({ pid }) => pid === root).flatMap(below);
}

/** The processor time of all of them since they started. */
export const cpuOfTree = async (root: number): Promise<number> =>
  (await treeOf(root)).reduce((sum, { cpu_ms }) => sum + cpu_ms, 0);

/**
 * Their memory, in which what several of them share counts once (PSS).
 * @param kind `Pss` is all of it; `Pss_Anon` what they have allocated, without files and the buffers of PostgreSQL, which fill up to a fixed size
 */
export async function memoryOfTree(root: number, kind: 'Pss' | 'Pss_Anon' = 'Pss'): Promise<number> {
  const line = new RegExp(`^${kind}:\\s+(\\d+)`, 'm');
  const sizes = (await treeOf(root)).map(async ({ pid }) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    return Number(line.exec(rollup)?.[1] ?? 0) * 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
