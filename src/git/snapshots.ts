/** A bare repository as a tar archive: its refs as they are at one moment, and the objects that these need. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { allRefs, copyObjectFiles, headBranch, packedRefs } from './copies.ts';
import type { Repository } from './types.ts';

type Archive = ReturnType<typeof pack>;

const add = (archive: Archive, header: { name: string; type?: 'directory' }, content = ''): Promise<void> =>
  new Promise((resolve, reject) => {
    archive.entry(header, content, (error) => (error ? reject(error) : resolve()));
  });

/** @returns false when maintenance has replaced the file with another one */
async function addFile(archive: Archive, name: string, file: string): Promise<boolean> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const { size } = await handle.stat();
  await pipeline(handle.createReadStream(), archive.entry({ name, size }));
  return true;
}

async function fill(archive: Archive, repository: Repository): Promise<void> {
  // Refs first: objects are only added, so that those found later contain what the refs need.
  const [refs, head] = [await allRefs(repository), await headBranch(repository)];
  await add(archive, { name: 'HEAD' }, `ref: refs/heads/${head ?? 'main'}\n`);
  const lines = await Array.fromAsync(packedRefs(refs));
  await add(archive, { name: 'packed-refs' }, lines.join(''));
  for (const name of ['refs', 'objects']) await add(archive, { name, type: 'directory' });
  await copyObjectFiles(repository, (file) =>
    addFile(archive, `objects/${file}`, join(repository.path, 'objects', file)),
  );
  archive.finalize();
}

/**
 * A repository that git clones from once it is unpacked. It has no hooks, settings or alternates.
 * @returns a stream that ends with an error when the repository cannot be read
 */
export function streamSnapshot(repository: Repository): Readable {
  const archive = pack();
  fill(archive, repository).catch((error: Error) => archive.destroy(error));
  return Readable.from(archive, { objectMode: false });
}
