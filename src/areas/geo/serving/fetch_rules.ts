/**
 * The requests of a fetch in version 2 of git's protocol; each of them is self-contained (gitprotocol-v2). Pure
 * functions.
 */

const flush = '0000';
/** The limit for one request, which has a line for each ref and commit that the client names. */
const maximumRequest_bytes = 16 * 1024 * 1024;

/** The length of a line including its length prefix; the three special packets consist only of the prefix. */
function lineLength(head: string): number {
  const length = /^[0-9a-f]{4}$/i.test(head) ? Number.parseInt(head, 16) : 3;
  if (length === 3) throw new Error('The fetch cannot be read.');
  return Math.max(length, 4);
}

/**
 * Splits the stream of a client into requests.
 * @yields a request with the flush packet that ends it
 * @throws Error for data that is not a fetch, and for a request of more than 16 MiB
 */
export async function* requestsIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size_bytes = 0;
  let head = '';
  let left = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const step = Math.min(left, chunk.length - at);
        left -= step;
        at += step;
        continue;
      }
      head += chunk.toString('latin1', at, at + 1);
      at++;
      if (head.length < 4) continue;
      if (head === flush) {
        yield Buffer.concat([...parts, chunk.subarray(start, at)]);
        [parts, size_bytes, start] = [[], 0, at];
      } else left = lineLength(head) - 4;
      head = '';
    }
    parts.push(chunk.subarray(start));
    size_bytes += chunk.length - start;
    if (size_bytes > maximumRequest_bytes) throw new Error('The fetch is too long.');
  }
}
