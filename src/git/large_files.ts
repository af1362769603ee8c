/**
 * Replaces LFS pointers while git creates an archive: the server side of git's "long running filter process" protocol
 * (gitattributes).
 */
import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';

/** Returns the replacement content of a small file with the attribute `filter=lfs`; undefined if the file stays as it is. */
export type LargeFiles = (content: Buffer) => Promise<Readable | undefined>;

/** Larger files cannot be pointers, so they are passed through without buffering. */
const maximumPointer_bytes = 1024;
const maximumPacket = 65_516;
const flush = '0000';

/** Settings that connect git with the server: the standard streams of the filter are the channel that the server opened as descriptor 3. */
export const channelFilter = { 'filter.lfs.process': 'cat <&3 & cat >&3; kill $!', 'filter.lfs.required': 'false' };

/** The packets in order; null marks the end of a list. */
async function* packetsOf(channel: Duplex): AsyncGenerator<Buffer | null, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of channel as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const length = Number.parseInt(rest.toString('latin1', 0, 4), 16);
      if (Number.isNaN(length)) throw new Error('git sent something to a filter that is no packet');
      if (length === 0) yield null;
      else if (rest.length < length) break;
      else yield rest.subarray(4, length);
      rest = rest.subarray(Math.max(length, 4));
    }
  }
}

const packet = (content: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from((Buffer.byteLength(content) + 4).toString(16).padStart(4, '0')), Buffer.from(content)]);

/**
 * Replies to git until it has sent all files.
 * @throws what `largeFiles` throws
 */
export async function answerFilter(channel: Duplex, largeFiles: LargeFiles): Promise<void> {
  const gone = new AbortController();
  channel.on('error', () => {}); // git has died; its exit code reports it.
  channel.once('close', () => gone.abort());
  const packets = packetsOf(channel);
  const say = async (...parts: (Buffer | string)[]): Promise<void> => {
    if (!channel.write(Buffer.concat(parts.map((part) => Buffer.from(part)))))
      await once(channel, 'drain', { signal: gone.signal });
  };
  if (!(await listFrom(packets))) return;
  await say(packet('git-filter-server\n'), packet('version=2\n'), flush);
  await listFrom(packets);
  await say(packet('capability=smudge\n'), flush);
  while (await listFrom(packets)) {
    const pointer = await listFrom(packets);
    const content = pointer && (await largeFiles(pointer));
    // When the filter reports an error, git keeps the file as it is.
    if (!content) await say(packet('status=error\n'), flush);
    else {
      await say(packet('status=success\n'), flush);
      for await (const chunk of content as AsyncIterable<Buffer>)
        for (let at = 0; at < chunk.length; at += maximumPacket)
          await say(packet(chunk.subarray(at, at + maximumPacket)));
      await say(flush, flush);
    }
  }
}

/** The content of a list of packets, as far as it can be a pointer; undefined at the end of the conversation. */
async function listFrom(packets: AsyncGenerator<Buffer | null, undefined>): Promise<Buffer | undefined> {
  let content: Buffer = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await packets.next();
    if (done) return undefined;
    if (value === null) return content;
    if (content.length <= maximumPointer_bytes) content = Buffer.concat([content, value]);
  }
}
