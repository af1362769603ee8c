/**
 * Lets git reach a repository through this process, which connects to the remote system itself: over SSH, or over git's own protocol to an address that it has
 * checked. The bridge speaks the protocol of `git daemon`, which equals git over SSH after its first line (gitprotocol-pack).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Duplex, pipeline, Transform } from 'node:stream';
import { type Floor, peerFloor, watchSpeed } from '../foundation/pace.ts';
import { GitError } from './command.ts';
import type { BridgedRemote } from './remotes.ts';
import type { Service } from './transport.ts';

export interface BridgeRequest {
  service: Service;
  /** The version of git's protocol that the client requests. */
  protocol: string | undefined;
}

export interface BridgeRules {
  /** Opens the connection to the remote system. */
  open(request: BridgeRequest): Promise<Duplex>;
  /** The maximum number of bytes from the remote system in total. */
  most_bytes: number;
  /** The minimum rate at which the remote system must send and receive. */
  floor?: Floor;
}

const maximumLine = 1024;

/** The first line of a client: its length, what it wants, its host, and the version of the protocol. */
async function lineOf(client: Socket): Promise<string> {
  const read = async (length: number): Promise<Buffer> => {
    for (;;) {
      const bytes = client.read(length) as Buffer | null;
      if (bytes) return bytes;
      await once(client, 'readable');
    }
  };
  const length = Number.parseInt((await read(4)).toString('latin1'), 16);
  if (!(length > 4 && length <= maximumLine)) throw new Error('The line of a client of the bridge is malformed.');
  return (await read(length - 4)).toString('utf8');
}

const isEqual = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
};

/**
 * Runs git with a bridge of this process to one repository of a remote system.
 * @throws what `open` throws; GitError when the remote system has sent too much; otherwise what `run` throws
 */
export async function throughBridge<Result>(
  { open, most_bytes, floor = peerFloor }: BridgeRules,
  run: (remote: BridgedRemote) => Promise<Result>,
): Promise<Result> {
  const secret = randomBytes(24).toString('hex');
  const streams = new Set<Duplex>();
  let problem: unknown;
  let received_bytes = 0;
  const keep = (stream: Duplex) => {
    streams.add(stream);
    // Two pipelines listen to each.
    stream.setMaxListeners(30);
    stream.on('error', () => {}); // the other side of the pipeline is closed, too
    stream.once('close', () => streams.delete(stream));
  };
  const counter = () =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received_bytes += chunk.length;
        if (received_bytes <= most_bytes) return done(null, chunk);
        problem ??= new GitError('fetch', null, `the other system sent more than ${most_bytes} bytes`);
        done(problem as Error);
      },
    });
  const serve = async (client: Socket) => {
    keep(client);
    try {
      const [wanted = '', ...members] = (await lineOf(client)).split('\0');
      const [service = '', path = ''] = wanted.split(' ', 2);
      const isKnown = service === 'git-upload-pack' || service === 'git-receive-pack';
      if (!isKnown || !isEqual(path, `/${secret}/repository`)) return void client.destroy();
      const there = await open({ service, protocol: members.find((member) => member.startsWith('version=')) });
      if (client.destroyed) return void there.destroy();
      keep(there);
      // git takes time to pack a push, and the remote system to process it; so only unread data counts as waiting then.
      const isSlow = () =>
        service === 'git-upload-pack' ? client.writableLength < client.writableHighWaterMark : there.writableLength > 0;
      const sent_bytes = () => client.bytesRead - there.writableLength;
      const stop = watchSpeed(
        floor,
        () => ({ isWaiting: isSlow(), moved_bytes: service === 'git-upload-pack' ? received_bytes : sent_bytes() }),
        () => {
          problem ??= new GitError('fetch', null, 'the other system is too slow: Operation too slow');
          client.destroy();
        },
      );
      there.once('close', stop);
      pipeline(client, there, () => {});
      pipeline(there, counter(), client, () => {});
    } catch (error) {
      problem ??= error;
      client.destroy();
    }
  };
  const server = createServer((client) => void serve(client)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await run({ bridge_url: `git://127.0.0.1:${port}/${secret}/` });
  } catch (error) {
    throw problem ?? error;
  } finally {
    server.close();
    for (const stream of streams) stream.destroy();
  }
}
