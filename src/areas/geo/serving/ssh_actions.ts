/** Pushes over SSH to a secondary: the primary takes them over HTTP (docs/reference/geo.md#what-a-secondary-serves). */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError, type Services } from '../../../http/index.ts';
import type { PushElsewhere } from '../../code/repository/index.ts';
import { open, Unreachable } from './passing_actions.ts';
import { awaitOwnWrites } from './position_actions.ts';
import { PushCommands } from './push_rules.ts';

type Push = Parameters<PushElsewhere>[0];

const longestRefusal_bytes = 64 * 1024;

/** The answer of the primary. @throws ApiError with its refusal */
async function answered(answer: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode: status = 502 } = answer;
  if (status === 200) return answer;
  let text = '';
  for await (const chunk of answer) if (text.length < longestRefusal_bytes) text += chunk;
  throw new ApiError(status, { message: `${status} ${text.trim()}` });
}

/** The answer to a request with a body that streams, for the owner of the key. */
async function ask(services: Services, push: Push, request: { method: string; path: string; type?: string; body?: Readable }) {
  const { key_id, command } = push;
  const headers = {
    ...(request.type && { 'content-type': request.type }),
    ...(command.protocol && { 'git-protocol': command.protocol }),
  };
  const outgoing = await open(services, { ...request, headers, address: command.source, key_id });
  command.signal.addEventListener('abort', () => outgoing.destroy());
  if (request.body) pipeline(request.body, outgoing).catch(() => {});
  else outgoing.end();
  const [answer] = (await once(outgoing, 'response').catch(() => {
    throw new Unreachable();
  })) as [IncomingMessage];
  return answered(answer);
}

/** Over HTTP, the refs come behind a line that names the service, and a flush. */
async function* refsIn(answer: IncomingMessage): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (!start) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    const length = start.length < 4 ? Number.POSITIVE_INFINITY : Number.parseInt(start.toString('latin1', 0, 4), 16) + 4;
    if (start.length < length) continue;
    yield start.subarray(length);
    start = undefined;
  }
}

/** What a client pushes, to its end: it does not close the channel after deletions, because it waits for the answer. */
async function* pushIn(channel: Readable): AsyncGenerator<Buffer> {
  const commands = new PushCommands();
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) {
    commands.read(chunk);
    yield chunk;
    if (commands.end && !commands.end.pack_follows) return;
  }
}

/** @returns what pushes to the primary */
export function pushToPrimary(services: Services): PushElsewhere {
  return async (push) => {
    const { path, command } = push;
    const address = `/${path.split('/').map(encodeURIComponent).join('/')}.git`;
    const refs = await ask(services, push, { method: 'GET', path: `${address}/info/refs?service=git-receive-pack` });
    await pipeline(Readable.from(refsIn(refs)), command.channel, { end: false });
    const type = 'application/x-git-receive-pack-request';
    const body = Readable.from(pushIn(command.channel), { objectMode: false });
    const report = await ask(services, push, { method: 'POST', path: `${address}/git-receive-pack`, type, body });
    await pipeline(report, command.channel, { end: false });
    await awaitOwnWrites(services).catch(() => {});
  };
}
