/** Finds pointers to large files that their project does not have. */
import { objectsOf, pointerIn } from '../areas/code/lfs/index.ts';
import type { Database } from '../db/index.ts';
import { entryAt, filesContaining, type Repository, readBlob, resolveBranch } from '../git/index.ts';
import type { Finding } from './finding.ts';

const firstLine = 'version https://git-lfs.github.com/spec/v1';

/** Looks at the default branch: what people clone. */
export async function checkPointers(
  db: Database,
  { id, full_path, default_branch }: { id: number; full_path: string; default_branch: string },
  repository: Repository,
): Promise<Finding[]> {
  const head = await resolveBranch(repository, default_branch);
  if (head === undefined) return [];
  const wanted = new Map<string, string>();
  for (const file of await filesContaining(repository, head, firstLine)) {
    const entry = await entryAt(repository, head, file);
    const pointer = entry?.type === 'blob' ? pointerIn(await readBlob(repository, entry.id)) : undefined;
    if (pointer) wanted.set(pointer.oid, file);
  }
  const known = new Set((await objectsOf(db, id, [...wanted.keys()])).map(({ oid }) => oid));
  return [...wanted]
    .filter(([oid]) => !known.has(oid))
    .map(([oid, file]) => ({
      sentence: `${full_path}: ${file} points to the LFS object ${oid}, which the database does not know. Push it again from a clone that has it.`,
    }));
}
