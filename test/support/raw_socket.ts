/** A connection without a client: for requests that no client would send, or not to their end. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/**
 * Opens a connection.
 * @param url the address of the server, without a path
 */
export async function rawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {}); // The server may end it at any time.
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

/** The head of a request, with the empty line after it. */
export const headOf = (method: string, path: string, headers: Record<string, string | number>): string =>
  `${[`${method} ${path} HTTP/1.1`, ...Object.entries({ host: 'coppice.test', ...headers }).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;

/** Everything that the server sends until the connection is closed, or reset. */
export async function everythingFrom(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close').catch(() => {});
  return Buffer.concat(chunks).toString();
}
