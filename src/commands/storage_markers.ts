/** The file in each storage by which servers notice that they do not share its folder (docs/operating.md#more-than-one-machine). */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { markerOf, setMarker } from '../areas/instance/nodes/index.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';

const markerIn = (folder: string): string => path.join(folder, '.coppice_storage');

async function readMarker(folder: string): Promise<string | undefined> {
  const text = await readFile(markerIn(folder), 'utf8').catch(() => '');
  return /^[0-9a-f-]{36}$/.exec(text.trim())?.[0];
}

/**
 * Compares the folders of the storages with the folders that the other servers use, and marks what no other server uses.
 * @param tx a transaction in which no other server starts
 * @param has_others whether other servers run
 * @returns a sentence if a folder is another one
 */
export async function storageProblem(
  tx: Database,
  storages: Config['storages'],
  has_others: boolean,
): Promise<string | undefined> {
  for (const { name, path: folder } of storages) {
    const [known, found] = [await markerOf(tx, name), await readMarker(folder)];
    if (known !== undefined && known === found) continue;
    if (known !== undefined && has_others)
      return `The folder of the storage ${name}, ${folder}, is not the one that the other servers use: they share a folder. Mount it there.`;
    // A folder that was moved or restored while no server ran.
    const marker = found ?? randomUUID();
    if (!found) await writeFile(markerIn(folder), `${marker}\n`, { mode: 0o600 });
    await setMarker(tx, name, marker);
  }
  return undefined;
}
