/** Original positions of stack frames, from uploaded source maps. */
import { sql } from 'kysely';
import type { Project } from '../../../../access/index.ts';
import type { BlobKey } from '../../../../blobs/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { Original } from '../../../../source_maps/index.ts';
import type { Frame } from '../payload/frame_rules.ts';
import { isObject, type JsonObject, objectsIn, textOf } from '../payload/rules.ts';
import { debugIdIn, tildeUrl } from './bundle_rules.ts';
import { costlyMaps, type Reader, readMap } from './reading_actions.ts';

/** Per event. */
const maximumMaps = 10;

interface MapRow {
  id: number;
  debug_id: string | null;
  url: string | null;
  blob_key: BlobKey;
  /** The digest of its content. */
  digest: string;
}

/** A stack frame with the keys for finding its map. */
interface MappedLine {
  line: number;
  column: number;
  debug_id: string | null;
  url: string | null;
}

/** The debug ids of the files of an event, by URL. */
function debugIdsIn({ debug_meta }: JsonObject): Map<string, string> {
  const images = isObject(debug_meta) ? objectsIn(debug_meta.images) : [];
  return new Map(
    images.flatMap(({ type, code_file, debug_id }) => {
      const [file, id] = [textOf(code_file), debugIdIn(debug_id)];
      return type === 'sourcemap' && file !== undefined && id !== null ? [[file, id] as const] : [];
    }),
  );
}

function placeOf(
  { abs_path, filename, lineNo, colNo }: Frame,
  ids: ReadonlyMap<string, string>,
): MappedLine | undefined {
  if (lineNo === null || colNo === null) return undefined;
  const debug_id = ids.get(abs_path ?? '') ?? ids.get(filename ?? '') ?? null;
  const url = tildeUrl(abs_path ?? '') ?? tildeUrl(filename ?? '');
  return debug_id === null && url === null ? undefined : { line: lineNo, column: colNo, debug_id, url };
}

/** The maps of files, latest upload first. Using a map postpones its deletion. */
async function mapsFor(
  db: Database,
  project: Pick<Project, 'id'>,
  places: readonly MappedLine[],
  { release, dist }: { release: string | null; dist: string },
): Promise<MapRow[]> {
  const debug_ids = [...new Set(places.flatMap(({ debug_id }) => debug_id ?? []))];
  const urls = release === null ? [] : [...new Set(places.flatMap(({ url }) => url ?? []))];
  const { rows } = await sql<MapRow>`
    with found as (
      select maps.id, debug_id, url, blob_key, digest, used_at from error_tracking_source_maps maps
       where maps.project_id = ${project.id} and debug_id = any(${ofAnyLength(debug_ids, 'uuid[]')})
      union
      select maps.id, debug_id, maps.url, blob_key, digest, maps.used_at from error_tracking_source_maps maps
        join error_tracking_bundles bundles on bundles.id = maps.bundle_id join error_tracking_versions versions on versions.id = bundles.version_id
       where maps.project_id = ${project.id} and maps.url = any(${ofAnyLength(urls, 'text[]')}) and versions.version = ${release}
         and bundles.dist in ('', ${dist})
    ), used as (
      update error_tracking_source_maps maps set used_at = now() from found where maps.id = found.id and found.used_at < now() - interval '1 day'
    )
    select id, debug_id, url, blob_key, coalesce(digest, blob_key) as digest from found order by id desc limit 100`.execute(
    db,
  );
  return rows;
}

async function bytesOf({ blobs }: Pick<Services, 'blobs'>, key: BlobKey): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const stream = await blobs.read(key);
  return stream && Uint8Array.from(Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)));
}

/**
 * The original positions of stack frames.
 * @returns one entry per frame, undefined if no map covers it
 */
export async function uploadedOriginals(
  services: Pick<Services, 'db' | 'blobs'>,
  reader: Reader,
  frames: readonly Frame[],
  { payload, release }: { payload: JsonObject; release: string | null },
): Promise<(Original | undefined)[]> {
  const ids = debugIdsIn(payload);
  const places = frames.map((frame) => placeOf(frame, ids));
  const known = places.filter((place) => place !== undefined);
  if (known.length === 0) return frames.map(() => undefined);
  const maps = await mapsFor(services.db, { id: reader.project_id }, known, {
    release,
    dist: textOf(payload.dist) ?? '',
  });
  const mapOf = (place: MappedLine | undefined) =>
    place &&
    (maps.find(({ debug_id }) => debug_id !== null && debug_id === place.debug_id) ??
      maps.find(({ url }) => url !== null && url === place.url));
  const chosen = places.map(mapOf);
  const originals: (Original | undefined)[] = frames.map(() => undefined);
  const used = [...new Set(chosen)].filter((each) => each !== undefined).slice(0, maximumMaps);
  const isCostly = await costlyMaps(
    reader,
    used.map(({ digest }) => digest),
  );
  for (const map of used) {
    if (isCostly(map.digest) || reader.signal.aborted) continue;
    const bytes = await bytesOf(services, map.blob_key);
    const indexes = chosen.flatMap((each, index) => (each === map ? [index] : []));
    const positions = indexes.map((index): [number, number] => [places[index]!.line, places[index]!.column]);
    const answers = bytes && (await readMap(reader, map.digest, { bytes, is_deflated: true, positions }));
    for (const [at, index] of indexes.entries()) originals[index] = answers?.[at] ?? undefined;
  }
  return originals;
}
