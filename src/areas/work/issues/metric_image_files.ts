/** The bytes of images, at the addresses that `file_path` names (issues.md section 12). They are no part of the API, but asked for with the same tokens. */
import type { FastifyInstance } from 'fastify';
import { authenticate, isVisibleIssue, type MaybeCaller } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { insufficientScope, notFound, type Services } from '../../../http/index.ts';
import { contentType, disposition, headerValue, sniffed_bytes, uncached } from '../../code/repository/index.ts';

interface ImageRequest {
  Params: { id: string; filename: string };
  Querystring: Record<string, unknown>;
}

interface StoredImage {
  filename: string;
  blob_key: string;
  size_bytes: number;
}

/** The image, if the caller may read its issue and the address names it as it is called. */
async function imageFor({ db }: Services, caller: MaybeCaller, { id, filename }: ImageRequest['Params']): Promise<StoredImage> {
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

const scopes = ['api', 'read_api'];

/** Adds the route of images to `app`. What a browser could run is sent as something to save. */
export function metricImageFiles(app: FastifyInstance, services: Services): void {
  const route = '/uploads/-/system/issuable_metric_image/file/:id/:filename';
  app.get<ImageRequest>(route, { exposeHeadRoute: false }, async (request, reply) => {
    const caller = await authenticate(request, request.query, services);
    if (caller && !caller.sudo && !scopes.some((scope) => caller.token.scopes.includes(scope))) throw insufficientScope(scopes);
    const image = await imageFor(services, caller, request.params);
    const bytes = await services.blobs.read(image.blob_key as BlobKey);
    const start = await services.blobs.read(image.blob_key as BlobKey, {
      start: 0,
      end: Math.min(sniffed_bytes, image.size_bytes) - 1,
    });
    if (!bytes || !start) throw notFound();
    const type = contentType(Buffer.concat(await start.toArray()));
    reply.headers({
      'content-type': type,
      'content-length': String(image.size_bytes),
      'content-disposition': headerValue(disposition(type.startsWith('image/') ? 'inline' : 'attachment', image.filename)),
      ...uncached,
    });
    return reply.send(bytes);
  });
}
