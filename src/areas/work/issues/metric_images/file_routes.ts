/** The bytes of metric images, at the URLs in `file_path` (docs/reference/issues.md). They are not part of the API, but accept the same tokens. */
import type { FastifyReply } from 'fastify';
import { countRequest, isVisibleIssue, type MaybeCaller, readerOf } from '../../../../access/index.ts';
import type { BlobKey } from '../../../../blobs/index.ts';
import {
  type Caller,
  type DoorCall,
  type Doorway,
  door,
  jsonForm,
  notFound,
  type Services,
  scopesFor,
} from '../../../../http/index.ts';
import { contentType, disposition, shownAs, sniffed_bytes, uncached } from '../../../code/repository/index.ts';

interface ImageRequest {
  Params: { id: string; filename: string };
  Querystring: Record<string, unknown>;
}

interface StoredImage {
  filename: string;
  blob_key: string;
  size_bytes: number;
}

/** The image, if the caller may read its issue and the file name in the URL matches. */
async function imageFor(
  { db }: Services,
  caller: MaybeCaller,
  { id, filename }: ImageRequest['Params'],
): Promise<StoredImage> {
  if (!/^\d{1,15}$/.test(id) || filename.includes('\0')) throw notFound();
  const image = await db
    .selectFrom('issue_metric_images as image')
    .innerJoin('issues', 'issues.id', 'image.issue_id')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['image.filename', 'image.blob_key', 'image.size_bytes'])
    .where('image.id', '=', Number(id))
    .where('image.filename', '=', filename)
    .where(isVisibleIssue(caller))
    .executeTakeFirst();
  if (!image) throw notFound();
  return image;
}

/** Sends an image. Types that a browser could execute are sent as attachments. */
async function sendImage({ services, caller, request, reply }: DoorCall<Caller, ImageRequest>): Promise<FastifyReply> {
  const image = await imageFor(services, caller, request.params);
  const bytes = await services.blobs.read(image.blob_key as BlobKey);
  const start = await services.blobs.read(image.blob_key as BlobKey, {
    start: 0,
    end: Math.min(sniffed_bytes, image.size_bytes) - 1,
  });
  if (!bytes || !start) throw notFound();
  const type = contentType(Buffer.concat(await start.toArray()));
  reply.headers({
    ...shownAs(type, disposition(type.startsWith('image/') ? 'inline' : 'attachment', image.filename)),
    'content-length': String(image.size_bytes),
    ...uncached,
  });
  return reply.send(bytes);
}

const file = door<Caller, ImageRequest>({
  method: 'GET',
  url: '/uploads/-/system/issuable_metric_image/file/:id/:filename',
  who: {
    identify: (services, request) => readerOf(services, request, request.query),
    scopes: () => scopesFor({ method: 'GET' }),
    count: (services, counting) => countRequest(services, {}, counting),
  },
  without_head: true,
  handle: sendImage,
});

export const metricImageDoorway: Doorway = { cost: 'stream', doors: [file], errors: () => jsonForm };
