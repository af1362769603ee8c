/** The uploads of a project or group as an archive, with its avatar. */
import { sql } from 'kysely';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { batchesOf, inPortions, whole } from './batch_queries.ts';
import type { ArchiveCall, ArchiveEntry, ExportedArchive, ExportOwner } from './definition.ts';
import { blobEntry } from './tar_actions.ts';

/** The avatar comes before all uploads. */
const avatarId = 0;

const tables = { project: 'projects', group: 'namespaces' } as const;

const avatarRow = (tx: Database, { kind, id }: ExportOwner) =>
  tx
    .selectFrom(tables[kind])
    .select(['avatar', 'avatar_key'])
    .where('id', '=', id)
    .where('avatar', 'is not', null)
    .$castTo<{ avatar: string; avatar_key: BlobKey }>()
    .executeTakeFirst();

const uploadsOf = (tx: Database, { kind, id }: ExportOwner) => tx.selectFrom('uploads').where(`${kind}_id`, '=', id);

async function* entries({ tx, owner, batch = whole, blobs, log }: ArchiveCall): AsyncGenerator<ArchiveEntry> {
  const avatar = batch.first_id === avatarId ? await avatarRow(tx, owner) : undefined;
  if (avatar) {
    const entry = await blobEntry(blobs, `avatar/${avatar.avatar}`, avatar.avatar_key);
    if (entry) yield entry;
    else log.warn({ ...owner, key: avatar.avatar_key }, 'an avatar is lost and was not exported');
  }
  const rows = inPortions((after, limit) =>
    uploadsOf(tx, owner)
      .select(['id', 'secret', 'filename', 'blob_key', 'size_bytes'])
      .where('id', '>', after)
      .where('id', '>=', batch.first_id)
      .where('id', '<=', batch.last_id)
      .orderBy('id')
      .limit(limit)
      .execute(),
  );
  for await (const { secret, filename, blob_key, size_bytes } of rows) {
    const entry = await blobEntry(blobs, `${secret}/${filename}`, blob_key as BlobKey, size_bytes);
    if (entry) yield entry;
    else log.warn({ ...owner, key: blob_key }, 'an upload is lost or damaged and was not exported');
  }
}

export const uploadArchive: ExportedArchive = {
  name: 'uploads',
  form: 'archive',
  is_batched: true,
  batches: (tx, { owner: { kind, id } }, size) =>
    batchesOf(
      tx,
      sql`select ${avatarId}::bigint as id from ${sql.table(tables[kind])} where id = ${id} and avatar is not null
          union all select id from uploads where ${sql.ref(`${kind}_id`)} = ${id}`,
      size,
    ),
  entries,
};
