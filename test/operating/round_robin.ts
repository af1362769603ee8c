/** A load balancer that sends each request to another server than the one before. */
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atFileEnd } from '../support/file_end.ts';

export interface Balancer {
  url: string;
  /** The servers that requests are sent to. */
  targets: string[];
  /** How many requests each server has got. */
  counts: Map<string, number>;
}

/** Starts one without servers; it ends with the test file. */
export async function roundRobin(): Promise<Balancer> {
  const balancer: Balancer = { url: '', targets: [], counts: new Map() };
  let turn = 0;
  const server = createServer((request, response) => {
    const target = balancer.targets[turn++ % balancer.targets.length]!;
    balancer.counts.set(target, (balancer.counts.get(target) ?? 0) + 1);
    const { method, headers, url } = request;
    const passed = ask(target + url, { method: method!, headers, agent: false }, (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.pipe(response);
    });
    passed.once('error', () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  balancer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return balancer;
}
