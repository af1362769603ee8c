/** Requests as they are: fetch() would normalise the path and refuse what only an attacker sends. */
import http from 'node:http';

export interface RawRequest {
  method: string;
  /** Below the API, percent-encoded or not. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface RawAnswer {
  status: number;
  text: string;
}

/** Far beyond what any request of a test takes: a server that hangs is reported as one. */
const patience_ms = 30_000;
/** A redirect may repeat the longest address. */
const longestHead_bytes = 64 * 1024;
/** A connection each: the server closes those on which it cannot tell where the next request would begin. */
const agent = new http.Agent({ keepAlive: false });

/**
 * Sends a request.
 * @param url the address of the server, without a path
 * @param root what the path of the request is below
 * @throws Error when the connection breaks, or when there is no answer
 */
export function sendRaw(
  url: string,
  { method, path, headers = {}, body = '' }: RawRequest,
  root = '/api/v4',
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      maxHeaderSize: longestHead_bytes,
      hostname,
      port,
      path: `${root}${path}`,
      method,
      headers: { ...headers, ...length },
    };
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    request.setTimeout(patience_ms, () => request.destroy(new Error(`no answer within ${patience_ms} ms`)));
    request.on('error', reject);
    request.end(body);
  });
}
