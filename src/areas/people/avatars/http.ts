/**
 * Downloads of avatars, at the URLs in `avatar_url` and, for projects and groups, as endpoints
 * (docs/reference/avatars.md).
 */
import type { Readable } from 'node:stream';
import { countRequest, type MaybeCaller, readerOf, visibleGroup, visibleProject } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { imageType, sniffed_bytes } from '../../../foundation/images.ts';
import {
  type Caller,
  type Doorway,
  door,
  type Headers,
  type Identification,
  jsonForm,
  notFound,
  type Services,
  scopesFor,
} from '../../../http/index.ts';
import type { AvatarColumns } from './actions.ts';
import { type AvatarKind, avatarPath } from './rules.ts';

interface AvatarRequest {
  Params: { id: string; filename: string };
  Querystring: Record<string, unknown>;
}

const tables = { user: 'users', group: 'namespaces', project: 'projects', 'projects/topic': 'topics' } as const;

const avatarOf = (db: Database, kind: AvatarKind, id: number): Promise<AvatarColumns | undefined> =>
  db.selectFrom(tables[kind]).select(['avatar', 'avatar_key']).where('id', '=', id).executeTakeFirst();

/**
 * The bytes of an avatar, with headers so that no browser executes them and no proxy stores them: access can be
 * revoked.
 */
async function bytesOf({ blobs }: Services, key: string): Promise<{ body: Readable; headers: Headers }> {
  const [start, body] = await Promise.all([
    blobs.read(key as BlobKey, { start: 0, end: sniffed_bytes - 1 }),
    blobs.read(key as BlobKey),
  ]);
  if (!start || !body) throw notFound('Avatar');
  const type = imageType(Buffer.concat(await start.toArray())) ?? 'application/octet-stream';
  const headers = {
    'content-type': type,
    'content-disposition': 'inline',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, max-age=0, must-revalidate',
  };
  return { body, headers };
}

/**
 * The avatar of a project or group that the caller can see.
 * @throws ApiError 404 without one
 */
export async function avatarBytes(services: Services, kind: AvatarKind, id: number) {
  const row = await avatarOf(services.db, kind, id);
  if (!row?.avatar_key) throw notFound('Avatar');
  return bytesOf(services, row.avatar_key);
}

/** Users and topics are known to everyone; projects and groups only to callers who can see them. */
async function checkVisible(db: Database, caller: MaybeCaller, kind: AvatarKind, id: string): Promise<void> {
  if (kind === 'project') await visibleProject(db, caller, id);
  if (kind === 'group') await visibleGroup(db, caller, id);
}

const who: Identification<Caller, AvatarRequest> = {
  identify: (services, request) => readerOf(services, request, request.query),
  scopes: () => scopesFor({ method: 'GET' }),
  count: (services, counting) => countRequest(services, {}, counting),
};

const doorOf = (kind: AvatarKind) =>
  door<Caller, AvatarRequest>({
    method: 'GET',
    url: avatarPath(kind, ':id', ':filename'),
    who,
    without_head: true,
    handle: async ({ services, caller, request, reply }) => {
      const { id, filename } = request.params;
      if (!/^\d{1,15}$/.test(id)) throw notFound();
      await checkVisible(services.db, caller, kind, id);
      const row = await avatarOf(services.db, kind, Number(id));
      if (!row?.avatar_key || row.avatar !== filename) throw notFound('Avatar');
      const { body, headers } = await bytesOf(services, row.avatar_key);
      return reply.headers(headers).send(body);
    },
  });

export const avatarDoorway: Doorway = {
  cost: 'stream',
  doors: (Object.keys(tables) as AvatarKind[]).map(doorOf),
  errors: () => jsonForm,
};
