/** Fetching pictures of other servers, and keeping them. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { type BlobKey, newBlobKey } from '../../../blobs/index.ts';
import { Places } from '../../../foundation/places.ts';
import type { Services } from '../../../http/index.ts';
import { fetchWhole, OutboundError } from '../../../outbound/index.ts';
import type { StoredFiles } from '../../../services/index.ts';
import { settingsOf } from '../application_settings/queries.ts';
import { removeUnusedBlob, storeBlob, useBlob } from '../blobs/actions.ts';
import { digestOf, pictureType } from './rules.ts';

export const proxiedPictureFiles: StoredFiles = {
  table: 'proxied_pictures',
  key: 'blob_key',
  kind: 'proxied_pictures',
  size_bytes: 'size_bytes',
};

/** Larger pictures are not shown. */
const largest_bytes = 5 * 1024 * 1024;
const silence_ms = 5_000;
const longest_ms = 10_000;
/** All pictures together. */
const most_bytes = 1024 * 1024 * 1024;
/** After as much was added by this process, the oldest ones are removed. */
const betweenLooks_bytes = 32 * 1024 * 1024;
const removedAtOnce = 1_000;

/** Pictures that are being fetched: neither a client nor another server takes all places, so that slow ones delay nobody else for long. */
const places = new Places({
  limits: { all: 12, per_address: 4, per_person: 4, per_peer: 3 },
  ...{ waiting: 200, waiting_per_address: 40, wait_ms: 10_000 },
});

/** A picture as it is kept; without a key it could not be fetched. */
export interface Picture {
  blob_key: BlobKey | null;
  media_type: string | null;
}

type Asked = Pick<Services, 'db' | 'blobs'>;

/** What another server sends. @returns undefined for what is no picture */
async function fetched(address: string, may_be_local: boolean): Promise<{ bytes: Buffer; type: string } | undefined> {
  const request = {
    method: 'GET' as const,
    url: address,
    headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'Coppice' },
    secret_headers: {},
    ...{ verifies_tls: true, may_be_local, silence_ms },
    signal: AbortSignal.timeout(longest_ms),
  };
  try {
    const { status, body } = await fetchWhole(request, largest_bytes);
    const type = status === 200 ? pictureType(body) : undefined;
    return type === undefined ? undefined : { bytes: body, type };
  } catch (error) {
    if (error instanceof OutboundError || (error as Error).name === 'TimeoutError') return undefined;
    throw error;
  }
}

let added_bytes = 0;

/** Removes the pictures that were shown longest ago until the rest is within the limit. */
export async function removeOldPictures(services: Pick<Services, 'db' | 'blobs'>): Promise<void> {
  const { rows } = await sql<{ blob_key: string | null }>`
    delete from proxied_pictures where address_sha256 in (
      select address_sha256 from (
        select address_sha256, used_at, sum(size_bytes) over (order by used_at desc, address_sha256) as total from proxied_pictures) kept
       where total > ${most_bytes} or used_at < now() - interval '30 days'
       order by used_at limit ${removedAtOnce})
    returning blob_key`.execute(services.db);
  for (const { blob_key } of rows) if (blob_key !== null) await removeUnusedBlob(services, blob_key);
}

/** Fetches a picture and keeps it, or that there was none; the one before is kept while the other server fails. */
async function fetchPicture(services: Asked, address: string, before: Picture | undefined): Promise<Picture> {
  const { db, blobs } = services;
  const { asset_proxy_enabled, allow_local_requests_from_web_hooks_and_services: may_be_local } = await settingsOf(db);
  if (!asset_proxy_enabled) return { blob_key: null, media_type: null };
  const found = await fetched(address, may_be_local);
  const received =
    found &&
    (await blobs.receive(newBlobKey('proxied_pictures'), Readable.from([found.bytes]), {
      at_most_bytes: largest_bytes,
    }));
  const picture: Picture = received
    ? { blob_key: await storeBlob(db, received), media_type: found!.type }
    : { blob_key: before?.blob_key ?? null, media_type: before?.media_type ?? null };
  const values = { ...picture, ...(found ? { size_bytes: found.bytes.length } : {}), fetched_at: sql<string>`now()` };
  await db.transaction().execute(async (tx) => {
    if (received) await useBlob(tx, received.key);
    await tx
      .insertInto('proxied_pictures')
      .values({ address_sha256: digestOf(address), ...values })
      .onConflict((conflict) => conflict.column('address_sha256').doUpdateSet(values))
      .execute();
  });
  added_bytes += found?.bytes.length ?? 0;
  if (added_bytes > betweenLooks_bytes) {
    added_bytes = 0;
    await removeOldPictures(services);
  }
  return picture;
}

const fetching = new Map<string, Promise<Picture>>();

/** Fetches a picture when a place is free. Those who ask for the same one wait together. @throws NoPlace */
function fetchInTurn(services: Asked, address: string, before: Picture | undefined): Promise<Picture> {
  const known = fetching.get(address);
  if (known) return known;
  const begun = (async () => {
    const leave = await places.takeForClient({ peer: new URL(address).host });
    try {
      return await fetchPicture(services, address, before);
    } finally {
      leave();
    }
  })().finally(() => fetching.delete(address));
  fetching.set(address, begun);
  return begun;
}

/**
 * A picture of another server, as it was at most a day ago; a server that failed is asked again after ten minutes.
 * @param wait is called before a picture is waited for
 * @throws NoPlace
 */
export async function pictureAt(services: Asked, address: string, wait: () => void): Promise<Picture> {
  const { rows } = await sql<Picture & { is_due: boolean; is_noted: boolean }>`
    select blob_key, media_type, used_at > now() - interval '1 day' as is_noted,
           fetched_at < now() - case when blob_key is null then interval '10 minutes' else interval '1 day' end as is_due
      from proxied_pictures where address_sha256 = ${digestOf(address)}`.execute(services.db);
  const [kept] = rows;
  if (kept && !kept.is_noted)
    await services.db
      .updateTable('proxied_pictures')
      .set({ used_at: sql<string>`now()` })
      .where('address_sha256', '=', digestOf(address))
      .execute();
  if (kept && !kept.is_due) return kept;
  wait();
  return fetchInTurn(services, address, kept);
}
