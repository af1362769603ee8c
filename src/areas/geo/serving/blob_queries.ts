/** The blobs of a secondary: those not copied yet are read from the primary. */
import type { IncomingMessage } from 'node:http';
import { type BlobKey, BlobStoreError, type Blobs, type ByteRange } from '../../../blobs/index.ts';
import { OutboundError } from '../../../outbound/index.ts';
import { askPrimary, type Site as LinkedSite } from '../link/request_actions.ts';

const rangeHeader = ({ start, end }: ByteRange) => ({ range: `bytes=${start}-${end}` });

/** @throws BlobStoreError if the primary does not respond or refuses */
async function fromPrimary(site: LinkedSite, key: BlobKey, range?: ByteRange): Promise<IncomingMessage | undefined> {
  const headers = range ? rangeHeader(range) : {};
  const answer = await askPrimary(site, { method: 'GET', path: `/blobs/${encodeURIComponent(key)}`, headers }).catch(
    (error) => {
      throw error instanceof OutboundError
        ? new BlobStoreError(`The primary does not answer: ${error.message}`)
        : error;
    },
  );
  if (answer.statusCode === (range ? 206 : 200)) return answer;
  answer.destroy();
  if (answer.statusCode === 404) return undefined;
  throw new BlobStoreError(`The primary answers with ${answer.statusCode}.`);
}

/**
 * The blob store of a secondary, with the primary as a fallback. A blob never changes, so a local copy is always
 * current.
 */
export const blobsOfBothSites = (blobs: Blobs, site: LinkedSite): Blobs => ({
  ...blobs,
  read: async (key, range) => (await blobs.read(key, range)) ?? fromPrimary(site, key, range),
  stat: async (key) => {
    const here = await blobs.stat(key);
    if (here) return here;
    const answer = await fromPrimary(site, key);
    answer?.destroy();
    return answer && { key, size_bytes: Number(answer.headers['content-length']), changed_at_ms: Date.now() };
  },
});
