/** Shows pictures of other servers, which pages may not load from there. The signature in the address is all that counts, so that browsers keep them for everybody. */
import { countRequest } from '../../../access/index.ts';
import { NoPlace } from '../../../foundation/places.ts';
import { type Caller, type Doorway, door, type Identification, jsonForm, notFound } from '../../../http/index.ts';
import { pictureAt } from './actions.ts';
import { addressIn, pictureFolder, placeholder } from './rules.ts';

interface PictureRequest {
  Params: { '*': string };
}

/** Callers need not identify themselves, but every request counts towards the rate limits. */
const who: Identification<Caller, PictureRequest> = {
  identify: async () => undefined,
  scopes: () => undefined,
  count: (services, counting) => countRequest(services, {}, counting),
};

/** For how long a browser keeps a picture, and one that could not be fetched. */
const [kept_s, missing_s] = [24 * 60 * 60, 5 * 60];

export const proxiedPictureDoorway: Doorway = {
  cost: 'stream',
  doors: [
    door<Caller, PictureRequest>({
      method: 'GET',
      url: `${pictureFolder}*`,
      who,
      without_head: true,
      handle: async ({ services, request, reply }) => {
        const address = addressIn(services, request.params['*']);
        if (address === undefined) throw notFound('Picture');
        reply.headers({
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
          'cross-origin-resource-policy': 'same-origin',
        });
        // A request that waits for another server occupies no slot.
        const found = await pictureAt(services, address, () => request.slot?.pause())
          .catch((error: unknown) => {
            if (error instanceof NoPlace) return undefined;
            throw error;
          })
          .finally(() => request.slot?.resume());
        const body = found?.blob_key ? await services.blobs.read(found.blob_key) : undefined;
        if (body)
          return reply
            .headers({ 'content-type': found!.media_type!, 'cache-control': `public, max-age=${kept_s}` })
            .send(body);
        return reply
          .headers({
            'content-type': 'image/svg+xml',
            'cache-control': found ? `public, max-age=${missing_s}` : 'no-store',
          })
          .send(placeholder(address));
      },
    }),
  ],
  errors: () => jsonForm,
};
