/** Another system that webhooks are delivered to: it keeps what it gets, and answers as the test says. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { announceEvents, sendHookDeliveries } from '../../src/areas/activity/hooks/index.ts';
import { addressesIn, checkAddresses } from './dead_links.ts';
import { performJob, performQueued } from './jobs.ts';
import type { World } from './populate.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies member by member and assert what they find.
  body: any;
}

export interface Receiver {
  url: string;
  /** The received requests, oldest first. */
  received: Received[];
  /** Takes what came so far. */
  take(): Received[];
  /** How requests to a path are answered; others with 200. */
  answers: Map<string, (response: ServerResponse) => void>;
  stop(): Promise<void>;
}

/** @param tls key and certificate of a receiver that is reached over HTTPS */
export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const received: Received[] = [];
  const answers: Receiver['answers'] = new Map();
  const receive: RequestListener = async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'));
    checkAddresses(addressesIn(body), 'What a hook is told');
    received.push({ path: request.url!, headers: request.headers, body });
    const answer = answers.get(request.url!);
    if (answer) answer(response);
    else response.end('thanks');
  };
  const server = (tls ? createSecureServer(tls, receive) : createServer(receive)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    take: () => received.splice(0),
    answers,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Announces and sends everything that hooks are to be told now. */
export async function sendHooks({ services }: Pick<World, 'services'>): Promise<void> {
  await performQueued(services, [announceEvents]);
  await performJob(services, sendHookDeliveries);
}

/** Lets hooks of projects and groups reach receivers. */
export async function allowLocalHooks({ as }: Pick<World, 'as'>, allowed = true): Promise<void> {
  await as('admin').put('/application/settings', { allow_local_requests_from_web_hooks_and_services: allowed });
}
