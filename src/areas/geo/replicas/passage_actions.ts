/**
 * The proxy for git to the primary: git cannot sign its requests, so it sends them to this process, which signs them.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { MirrorSource } from '../../../git/index.ts';
import { OutboundError } from '../../../outbound/index.ts';
import { askPrimary, type Site as LinkedSite } from '../link/request_actions.ts';

/** The primary has responded with another status than 200. */
export class PrimaryRefused extends Error {
  override name = 'PrimaryRefused';
  readonly status: number;
  constructor(status: number) {
    super(`The primary answers with ${status}.`);
    this.status = status;
  }
}

/** git sends a keep-alive every five seconds while it prepares a pack. */
const silence_ms = 2 * 60_000;
const maximumRequest_bytes = 64 * 1024 * 1024;
const passedHeaders = ['content-type', 'content-encoding', 'accept', 'git-protocol'] as const;
const ofRepository = /^\/(?:info\/refs\?service=git-upload-pack|git-upload-pack)$/;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size_bytes += chunk.length;
    if (size_bytes > maximumRequest_bytes) throw new Error('The request of git is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    passedHeaders.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );

const isSame = (given: string | undefined, expected: string): boolean =>
  given?.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));

/**
 * Opens a proxy to one repository of the primary, for git on this site.
 * @param path of the repository below `/api/v4/geo`
 * @throws PrimaryRefused or OutboundError if this is why the work failed, and otherwise the error of the work
 */
export async function throughPassage<T>(
  site: LinkedSite,
  path: string,
  signal: AbortSignal,
  work: (source: MirrorSource) => Promise<T>,
): Promise<T> {
  // Other processes on this machine can connect, too.
  const authorization = `Bearer ${randomBytes(32).toString('hex')}`;
  let reason: Error | undefined;
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = request;
    if (!isSame(request.headers.authorization, authorization) || !ofRepository.test(url))
      return void response.writeHead(404).end();
    const question = { path: `${path}${url}`, headers: headersOf(request), silence_ms, signal };
    const answer = await (method === 'POST'
      ? askPrimary(site, { ...question, method, body: await bodyOf(request) })
      : askPrimary(site, { ...question, method: 'GET' }));
    const status = answer.statusCode ?? 502;
    if (status !== 200) reason ??= new PrimaryRefused(status);
    response.writeHead(status, { 'content-type': answer.headers['content-type'] ?? 'text/plain' });
    await pipeline(answer, response);
  };
  const server = createServer((request, response) => {
    pass(request, response).catch((error) => {
      if (error instanceof OutboundError) reason ??= error;
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, authorization });
  } catch (error) {
    throw reason ?? error;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
