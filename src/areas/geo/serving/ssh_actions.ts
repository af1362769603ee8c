/**
 * Git over SSH at a secondary: the primary receives pushes, and serves copies that are not current, over HTTP
 * (docs/reference/geo.md#what-a-secondary-serves).
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inAddress } from '../../../foundation/addresses.ts';
import type { Service } from '../../../git/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import type { Elsewhere, ServedElsewhere } from '../../code/repository/index.ts';
import { isCurrent } from './currency_queries.ts';
import { requestsIn } from './fetch_rules.ts';
import { open, Unreachable } from './passing_actions.ts';
import { repositoryIn } from './passing_rules.ts';
import { awaitOwnWrites } from './position_actions.ts';
import { PushCommands } from './push_rules.ts';

const maximumRefusal_bytes = 64 * 1024;
const emptyRequest_bytes = 4;

/** The response of the primary. @throws ApiError with its refusal */
async function answered(answer: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode: status = 502 } = answer;
  if (status === 200) return answer;
  let text = '';
  for await (const chunk of answer) if (text.length < maximumRefusal_bytes) text += chunk;
  throw new ApiError(status, { message: `${status} ${text.trim()}` });
}

/** Sends a request with a streaming body, on behalf of the owner of the key. */
async function ask(
  services: Services,
  { key_id, command }: ServedElsewhere,
  request: { method: string; path: string; type?: string; body?: Readable },
) {
  const headers = {
    ...(request.type && { 'content-type': request.type }),
    ...(command.protocol && { 'git-protocol': command.protocol }),
  };
  const outgoing = await open(services, { ...request, headers, address: command.source, key_id });
  const stop = () => outgoing.destroy();
  command.signal.addEventListener('abort', stop);
  // A fetch sends several requests during one command.
  outgoing.once('close', () => command.signal.removeEventListener('abort', stop));
  if (request.body) pipeline(request.body, outgoing).catch(() => {});
  else outgoing.end();
  const [answer] = (await once(outgoing, 'response').catch(() => {
    throw new Unreachable();
  })) as [IncomingMessage];
  return answered(answer);
}

/** Over HTTP, the refs for a push follow a line with the service name, and a flush packet. */
async function* refsIn(answer: IncomingMessage): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (!start) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    const length =
      start.length < 4 ? Number.POSITIVE_INFINITY : Number.parseInt(start.toString('latin1', 0, 4), 16) + 4;
    if (start.length < length) continue;
    yield start.subarray(length);
    start = undefined;
  }
}

/**
 * Yields the client's part of a push up to its end: after deletions the client does not close the channel, because it
 * waits for the response.
 */
async function* pushIn(channel: Readable): AsyncGenerator<Buffer> {
  const commands = new PushCommands();
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) {
    commands.read(chunk);
    yield chunk;
    if (commands.end && !commands.end.pack_follows) return;
  }
}

const addressOf = ({ path }: ServedElsewhere) => `/${inAddress(path)}.git`;

const refsOf = (services: Services, served: ServedElsewhere, service: Service): Promise<IncomingMessage> =>
  ask(services, served, { method: 'GET', path: `${addressOf(served)}/info/refs?service=${service}` });

async function pushToPrimary(services: Services, served: ServedElsewhere): Promise<void> {
  const { channel } = served.command;
  const refs = await refsOf(services, served, 'git-receive-pack');
  await pipeline(Readable.from(refsIn(refs)), channel, { end: false });
  const type = 'application/x-git-receive-pack-request';
  const body = Readable.from(pushIn(channel), { objectMode: false });
  const report = await ask(services, served, {
    method: 'POST',
    path: `${addressOf(served)}/git-receive-pack`,
    type,
    body,
  });
  await pipeline(report, channel, { end: false });
  await awaitOwnWrites(services).catch(() => {});
}

/** Sends each request of protocol version 2 as an HTTP request; a client that sends an empty one is finished. */
async function fetchFromPrimary(services: Services, served: ServedElsewhere, refs: Readable): Promise<void> {
  const { channel } = served.command;
  await pipeline(refs, channel, { end: false });
  const type = 'application/x-git-upload-pack-request';
  for await (const request of requestsIn(channel.iterator({ destroyOnReturn: false }))) {
    if (request.length === emptyRequest_bytes) return;
    const body = Readable.from([request]);
    const answer = await ask(services, served, {
      method: 'POST',
      path: `${addressOf(served)}/git-upload-pack`,
      type,
      body,
    });
    await pipeline(answer, channel, { end: false });
  }
}

/**
 * Whether the primary has to serve a fetch: the copy here is not current, and the client uses a protocol version with
 * self-contained requests.
 */
async function isPassed({ db }: Services, { path, command }: ServedElsewhere): Promise<boolean> {
  if (!/(?:^|:)version=2(?:$|:)/.test(command.protocol ?? '')) return false;
  const repository = repositoryIn(`/${path}.git/git-upload-pack`);
  return repository !== undefined && !(await isCurrent(db, repository));
}

/** @returns how the primary serves git over SSH for this secondary */
export const sshAtPrimary = (services: Services): Elsewhere => ({
  push: (served) => pushToPrimary(services, served),
  async fetch(served) {
    if (!(await isPassed(services, served))) return false;
    const refs = await refsOf(services, served, 'git-upload-pack').catch((error) => {
      if (error instanceof Unreachable) return undefined;
      throw error;
    });
    if (!refs) return false;
    await fetchFromPrimary(services, served, refs);
    return true;
  },
});
