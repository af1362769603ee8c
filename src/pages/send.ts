/** Writing a page: its headers, its ETag and its pieces, compressed as the browser accepts it. */
import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { diagramFrame } from './assets.ts';
import type { Html } from './html.ts';

/**
 * Only our own assets are loaded or run, whatever a page contains. The policy is the same for all pages, except for where forms lead.
 * @param leads_to origins to which a form may redirect, besides this one
 */
const policy = (origin: string, leads_to: readonly string[]) =>
  [
    "default-src 'none'",
    `script-src ${origin}/assets/`,
    `style-src ${origin}/assets/`,
    "img-src 'self'",
    `frame-src ${origin}${diagramFrame}`,
    "font-src 'none'",
    "connect-src 'self'",
    ["form-action 'self'", ...leads_to].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types coppice',
  ].join('; ');

/**
 * The headers of all pages.
 * @param origin where the browser reached the server
 */
const pageHeaders = (origin: string, leads_to: readonly string[] = []) => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy(origin, leads_to),
  'cache-control': 'private, no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  vary: 'Accept-Encoding, Cookie',
});

/** Pages are no part of the API, which scripts of other origins may read. */
function headFor(reply: FastifyReply, { origin, leads_to }: Pick<Sending, 'origin' | 'leads_to'>): void {
  reply.headers(pageHeaders(origin, leads_to));
  for (const name of [
    'access-control-allow-origin',
    'access-control-allow-credentials',
    'access-control-expose-headers',
  ])
    reply.removeHeader(name);
}

/** A page of 40 kB shrinks to a tenth in a millisecond. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
/** A change of 34,000 lines, 7.5 MB, shrinks to 742 kB in 120 ms; with the quality of other pages and without a size hint, to 842 kB in 90 ms. */
const brotliOfPieces = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: 8_000_000 },
};
const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);

type Encoding = 'br' | 'gzip' | undefined;

function encodingFor({ headers }: FastifyRequest): Encoding {
  const accepted = String(headers['accept-encoding'] ?? '');
  return /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
}

export interface Sending {
  status?: number;
  origin: string;
  /** Whether the page contains a secret. */
  is_secret?: true | undefined;
  /** Origins of other servers to which its forms may redirect. */
  leads_to?: readonly string[] | undefined;
}

/** Whether a client prefers HTML to JSON. */
export const wantsHtml = ({ headers }: FastifyRequest): boolean => /\btext\/html\b/.test(headers.accept ?? '');

/** Sends a page with a secret. It is not compressed, because the compressed length would reveal something about the secret, and it is not stored. */
export function sendSecret(reply: FastifyReply, { text }: Html, { status = 200, ...sending }: Sending): FastifyReply {
  headFor(reply.code(status), sending);
  return reply.header('cache-control', 'no-store').send(text);
}

/** Sends a whole page. */
export async function sendHtml(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Html,
  sending: Sending,
): Promise<FastifyReply> {
  if (sending.is_secret) return sendSecret(reply, page, sending);
  const { status = 200 } = sending;
  const { text } = page;
  headFor(reply.code(status), sending);
  if (status === 200) {
    const tag = `W/"${createHash('sha1').update(text).digest('base64url')}"`;
    reply.header('etag', tag);
    if (request.headers['if-none-match'] === tag) return reply.code(304).send();
  }
  const encoding = encodingFor(request);
  if (encoding === undefined) return reply.send(text);
  reply.header('content-encoding', encoding);
  return reply.send(await (encoding === 'br' ? brotliOf(text, brotli) : gzipOf(text)));
}

/**
 * Less than this is sent together with what follows. The head goes out at once, so that the browser asks for the style sheet, and then what people see first; the rest is
 * compressed better in longer pieces.
 */
const firstPieces_chars = [1, 16 * 1024];
const piece_chars = 64 * 1024;

/** Joins small pieces. A piece that fails is replaced by a message: the status has been sent. */
async function* joined(pieces: AsyncIterable<Html>, failed: (error: unknown) => Html): AsyncGenerator<string> {
  let text = '';
  let count = 0;
  try {
    for await (const piece of pieces) {
      text += piece.text;
      if (text.length < (firstPieces_chars[count] ?? piece_chars)) continue;
      yield text;
      text = '';
      count += 1;
    }
  } catch (error) {
    text += failed(error).text;
  }
  yield text;
}

/**
 * Sends a page in pieces, as they are made.
 * @param failed the text shown in place of pieces that could not be rendered
 */
export function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<Html>,
  failed: (error: unknown) => Html,
  { status = 200, ...sending }: Sending,
): FastifyReply {
  headFor(reply.code(status), sending);
  const encoding = encodingFor(request);
  const source = Readable.from(joined(pieces, failed));
  if (encoding === undefined) return reply.send(source);
  const compressor =
    encoding === 'br' ? createBrotliCompress(brotliOfPieces) : createGzip({ flush: constants.Z_SYNC_FLUSH });
  reply.header('content-encoding', encoding);
  return reply.send(pipeline(source, compressor, () => {}));
}
