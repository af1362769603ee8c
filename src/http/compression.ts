/** Compresses the lists and texts that endpoints reply with, in an encoding that the client accepts (docs/api.md). */
import compress, { type FastifyCompressRouteOptions } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { type AnyEndpoint, isReading } from './endpoint.ts';

/** Smaller replies gain less than they cost. */
const threshold = 1024;

/** Lets routes of `app` compress their replies. */
export async function offerCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, { global: false, globalDecompression: false });
}

/** The options of a route whose replies are compressed. */
export const compressed: FastifyCompressRouteOptions = { compress: { threshold, encodings: ['br', 'gzip'] } };

/**
 * The options of the route of an endpoint for the compression of its replies. Those that contain secrets are never compressed: their length would tell an attacker
 * who chooses a part of them whether it resembles a secret (the attack BREACH). New secrets are in replies to other methods than GET.
 */
export function compressionOf({ method, returns, holds_secrets }: AnyEndpoint): FastifyCompressRouteOptions {
  const isText =
    returns.schema !== undefined || (returns.media_types?.every((type) => type.startsWith('text/')) ?? false);
  return isReading(method) && isText && !holds_secrets ? compressed : { compress: false };
}
