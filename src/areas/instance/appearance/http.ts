/** Downloads of the pictures, without authentication: they are shown on the sign-in page. */
import { countRequest } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { imageType, sniffed_bytes } from '../../../foundation/images.ts';
import { type Caller, type Doorway, door, type Identification, jsonForm, notFound } from '../../../http/index.ts';
import { picturePath } from './rules.ts';

interface PictureRequest {
  Params: { kind: string; filename: string };
}

/** Callers need not identify themselves, but every request counts towards the rate limits. */
const who: Identification<Caller, PictureRequest> = {
  identify: async () => undefined,
  scopes: () => undefined,
  count: (services, counting) => countRequest(services, {}, counting),
};

export const pictureDoorway: Doorway = {
  cost: 'stream',
  doors: [
    door<Caller, PictureRequest>({
      method: 'GET',
      url: picturePath(':kind', ':filename'),
      who,
      without_head: true,
      handle: async ({ services: { db, blobs }, request, reply }) => {
        const { kind, filename } = request.params;
        const pictures = db.selectFrom('appearance_pictures').select('blob_key').where('name', '=', filename);
        const picture = await pictures.where('kind', '=', kind).executeTakeFirst();
        const key = picture?.blob_key as BlobKey | undefined;
        const [start, body] = key
          ? await Promise.all([blobs.read(key, { start: 0, end: sniffed_bytes - 1 }), blobs.read(key)])
          : [];
        if (!start || !body) throw notFound('Picture');
        return reply
          .headers({
            'content-type': imageType(Buffer.concat(await start.toArray())) ?? 'application/octet-stream',
            'content-security-policy': "default-src 'none'; sandbox",
            'cache-control': 'public, max-age=300',
          })
          .send(body);
      },
    }),
  ],
  errors: () => jsonForm,
};
