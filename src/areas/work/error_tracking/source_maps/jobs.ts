/** Unpacks bundles. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { parse } from 'secure-json-parse';
import { type BlobKey, newBlobKey } from '../../../../blobs/index.ts';
import type { Database } from '../../../../db/index.ts';
import { Id } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import type { JobServices } from '../../../../services/index.ts';
import { storeBlob, useBlob } from '../../../instance/blobs/index.ts';
import type { Json } from '../payload/rules.ts';
import { type BundledMap, mapsIn } from './bundle_rules.ts';
import { type ArchivedFile, BadArchive, deflated, filesIn, unpacked } from './zip_rules.ts';

/** Per bundle. The archive is read into memory. */
export const bundle_bytes = 64 * 2 ** 20;
const maximumMaps = 2000;
const manifest_bytes = 2 ** 20;
/** Per map, unpacked. */
const map_bytes = 32 * 2 ** 20;
/** For all maps of a project, in stored form. */
const maximumStored_bytes = 2 * 2 ** 30;

type Bytes = Pick<JobServices, 'db' | 'blobs'>;

interface Bundle {
  id: number;
  project_id: number;
  checksum: string;
  /** Null for a missing one. */
  chunk_keys: (BlobKey | null)[];
}

/** The bundle, if it has not been unpacked yet. */
async function bundleOf(db: Database, id: number): Promise<Bundle | undefined> {
  const { rows } = await sql<Bundle>`
    select id, project_id, encode(checksum, 'hex') as checksum,
           array(select chunks.blob_key from unnest(bundles.chunks) with ordinality given(checksum, place)
                   left join error_tracking_chunks chunks on chunks.user_id = bundles.user_id and chunks.checksum = decode(given.checksum, 'hex')
                  order by place) as chunk_keys
      from error_tracking_bundles bundles where id = ${id} and state = 'created'`.execute(db);
  return rows[0];
}

/** @throws BadArchive if it is too large, a part is missing, or the checksum does not match */
async function archiveOf({ blobs }: Bytes, { chunk_keys, checksum }: Bundle): Promise<Buffer> {
  const parts: Buffer[] = [];
  const hash = createHash('sha1');
  let size_bytes = 0;
  for (const key of chunk_keys) {
    const stream = key === null ? undefined : await blobs.read(key);
    if (!stream) throw new BadArchive('a chunk is missing');
    for await (const part of stream as AsyncIterable<Buffer>) {
      size_bytes += part.length;
      if (size_bytes > bundle_bytes) throw new BadArchive('the archive is too large');
      hash.update(part);
      parts.push(part);
    }
  }
  if (hash.digest('hex') !== checksum) throw new BadArchive('the archive has another checksum');
  return Buffer.concat(parts);
}

async function manifestIn(files: ReadonlyMap<string, ArchivedFile>): Promise<Json> {
  const file = files.get('manifest.json');
  if (!file) throw new BadArchive('the archive has no manifest');
  const text = (await unpacked(file, manifest_bytes)).toString();
  try {
    return parse(text, null, { protoAction: 'remove', constructorAction: 'remove' }) as Json;
  } catch (error) {
    throw new BadArchive('the manifest is not JSON', { cause: error });
  }
}

interface StoredMap extends Omit<BundledMap, 'name'> {
  blob_key: BlobKey;
  size_bytes: number;
  /** The SHA-256 of the stored bytes. */
  digest: string;
}

/** Stores a map, whose blob stays recorded as unused until its row is added. */
async function storeMap({ db, blobs }: Bytes, file: ArchivedFile, { debug_id, url }: BundledMap): Promise<StoredMap> {
  await unpacked(file, map_bytes);
  const bytes = await deflated(file);
  const received = await blobs.receive(newBlobKey('source_maps'), Readable.from([bytes]), { at_most_bytes: map_bytes });
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { debug_id, url, blob_key: await storeBlob(db, received), size_bytes: received.size_bytes, digest };
}

/** @throws BadArchive if the project has not enough room */
async function checkRoom(db: Database, project_id: number, added_bytes: number): Promise<void> {
  const { rows } = await sql<{ stored: number }>`
    select coalesce(sum(size_bytes), 0)::bigint as stored from error_tracking_source_maps where project_id = ${project_id}`.execute(
    db,
  );
  if (rows[0]!.stored + added_bytes > maximumStored_bytes) throw new BadArchive('the project has too many source maps');
}

async function storeMaps(services: Bytes, bundle: Bundle, signal: AbortSignal): Promise<StoredMap[]> {
  const files = filesIn(await archiveOf(services, bundle));
  const maps = mapsIn(await manifestIn(files));
  if (maps.length > maximumMaps) throw new BadArchive(`the archive has more than ${maximumMaps} source maps`);
  const found = maps.flatMap((map) => (files.has(map.name) ? [{ map, file: files.get(map.name)! }] : []));
  const size_bytes = found.reduce((sum, { file }) => sum + file.bytes.length, 0);
  await checkRoom(services.db, bundle.project_id, size_bytes);
  const stored: StoredMap[] = [];
  for (const { map, file } of found) {
    signal.throwIfAborted();
    stored.push(await storeMap(services, file, map));
  }
  return stored;
}

/** Adds the maps of a bundle, and deletes its chunks unless another bundle needs them. */
const concludeBundle = (
  db: Database,
  { id, project_id }: Bundle,
  maps: readonly StoredMap[],
  problem?: string,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const state = problem === undefined ? 'ok' : 'error';
    const { rows } = await sql<{ user_id: number | null; chunks: string[]; is_released: boolean }>`
      update error_tracking_bundles set state = ${state}, detail = ${problem ?? null} where id = ${id} and state = 'created'
      returning user_id, chunks, version_id is not null as is_released`.execute(tx);
    const [concluded] = rows;
    if (!concluded) return;
    for (const { blob_key } of maps) await useBlob(tx, blob_key);
    await sql`
      insert into error_tracking_source_maps (bundle_id, project_id, debug_id, url, blob_key, size_bytes, digest, used_at)
      select ${id}, ${project_id}, debug_id, url, blob_key, size_bytes, digest, ${concluded.is_released ? null : sql`now()`}
        from jsonb_to_recordset(${JSON.stringify(maps)}::jsonb) as given(debug_id uuid, url text, blob_key text, size_bytes integer, digest text)`.execute(
      tx,
    );
    await sql`
      delete from error_tracking_chunks chunks
       where user_id = ${concluded.user_id} and checksum in (select decode(each, 'hex') from unnest(${concluded.chunks}::text[]) each)
         and not exists (select from error_tracking_bundles waiting where waiting.user_id = chunks.user_id and waiting.state = 'created'
                            and encode(chunks.checksum, 'hex') = any(waiting.chunks))`.execute(tx);
  });

/** Unpacks a bundle whose chunks are present, and stores its source maps. */
export const unpackBundle = job('unpack_bundle', {
  input: { bundle_id: Id },
  retries: 5,
  async run({ db, blobs, log, signal, input: { bundle_id } }) {
    const bundle = await bundleOf(db, bundle_id);
    if (!bundle) return;
    try {
      await concludeBundle(db, bundle, await storeMaps({ db, blobs }, bundle, signal));
    } catch (error) {
      if (!(error instanceof BadArchive)) throw error;
      log.info({ bundle_id, err: error }, 'a bundle of source maps cannot be unpacked');
      await concludeBundle(db, bundle, [], error.message);
    }
  },
});
