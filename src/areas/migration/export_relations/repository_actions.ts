/** The repository of a project as an archive with a git bundle. */
import { newBlobKey } from '../../../blobs/index.ts';
import { allRefs, repositoryOf, streamBundle } from '../../../git/index.ts';
import { removeUnusedBlob, storeBlob } from '../../instance/blobs/index.ts';
import type { ArchiveCall, ArchiveEntry, ExportedArchive } from './definition.ts';
import { largest_bytes } from './gzip_actions.ts';
import { blobEntry } from './tar_actions.ts';

/**
 * An archive states the size of a file before its content, so the bundle is stored first. It may be read while the
 * repository moves to another storage: git keeps the old copy.
 */
async function* entries({ db, tx, owner, blobs, storages, signal }: ArchiveCall): AsyncGenerator<ArchiveEntry> {
  const place = tx.selectFrom('projects').select(['id', 'storage']).where('id', '=', owner.id);
  const repository = repositoryOf({ storages }, await place.executeTakeFirstOrThrow());
  if ((await allRefs(repository)).size === 0) return;
  const bundle = await blobs.receive(newBlobKey('relation_exports'), streamBundle(repository, signal), {
    at_most_bytes: largest_bytes,
  });
  const key = await storeBlob(db, bundle);
  try {
    const entry = await blobEntry(blobs, 'repository.bundle', key, bundle.size_bytes);
    if (!entry) throw new Error(`the blob ${key} is missing`);
    yield entry;
  } finally {
    await removeUnusedBlob({ db, blobs }, key);
  }
}

export const repositoryArchive: ExportedArchive = {
  name: 'repository',
  form: 'archive',
  is_batched: false,
  batches: async () => [],
  entries,
};
