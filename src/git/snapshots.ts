/** A bare repository as a tar archive: its refs at one moment, and the objects that these need. */
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

async function fill(archive: Archive, repository: Repository): Promise<void> {
  // Refs first: objects are only added, so that those found later contain what the refs need.
  const [refs, head] = [await allRefs(repository), await headBranch(repository)];
  await add(archive, { name: 'HEAD' }, `ref: refs/heads/${head ?? 'main'}\n`);
  const lines = await Array.fromAsync(packedRefs(refs));
  await add(archive, { name: 'packed-refs' }, lines.join(''));
  for (const name of ['refs', 'objects']) await add(archive, { name, type: 'directory' });
  await copyObjectFiles(repository, ({ name, size_bytes, content }) =>
    pipeline(content, archive.entry({ name: `objects/${name}`, size: size_bytes })),
  );
  archive.finalize();
}

/**
 * A repository that git can clone from once it is unpacked. It has no hooks, settings or alternates.
 * @returns a stream that ends with an error when the repository cannot be read
 */
export function streamSnapshot(repository: Repository): Readable {
  const archive = pack();
  fill(archive, repository).catch((error: Error) => archive.destroy(error));
  return Readable.from(archive, { objectMode: false });
}
