/** The door of a primary for its secondaries: everything below `/api/v4/geo/` (docs/reference/geo.md#protocol). */
import { ApiError, type Caller, type Doorway, door, jsonForm, streamOf } from '../../../http/index.ts';
import { signedBy } from './access.ts';
import type { AnyGeoRoute, GeoRequest } from './definition.ts';
import { digestOf } from './signature_rules.ts';

export const geoRoot = '/api/v4/geo';

const usualBody_bytes = 64 * 1024;

/** @throws ApiError 413 if the body is too long, 401 if it differs from the signed one */
async function bodyOf(stream: AsyncIterable<Buffer>, most_bytes: number, digest: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of stream) {
    size_bytes += chunk.length;
    if (size_bytes > most_bytes) throw new ApiError(413, { message: '413 Request Entity Too Large' });
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (digestOf(body) !== digest)
    throw new ApiError(401, { message: '401 Unauthorized - The body is not the signed one.' });
  return body;
}

const doorOf = ({ method, path, most_bytes = usualBody_bytes, handle }: AnyGeoRoute) =>
  door<Caller, GeoRequest>({
    method,
    url: `${geoRoot}${path}`,
    without_head: true,
    handle: async ({ services, request, reply }) => {
      const head = { method, path: request.originalUrl, headers: request.headers };
      const { node, digest } = await signedBy(services, head);
      const body = method === 'GET' ? Buffer.alloc(0) : await bodyOf(streamOf(request), most_bytes, digest);
      const answer = await handle({ services, node, request, reply, body });
      if (reply.sent || answer === undefined || answer === reply) return reply;
      return reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(answer)));
    },
  });

/** @param routes the routes of all areas of the district */
export const geoDoorway = (routes: readonly AnyGeoRoute[]): Doorway => ({
  cost: 'stream',
  doors: routes.map(doorOf),
  errors: () => jsonForm,
  // The signature is checked before any of the body is read.
  bodies: 'stream',
});
