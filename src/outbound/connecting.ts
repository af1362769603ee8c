/** Connections to remote systems over protocols other than HTTP, such as SSH. */
import { once } from 'node:events';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { localTargetOf, localTexts } from './addresses.ts';
import { BlockedError, guardedLookup, OutboundError, reasonOf } from './opening.ts';

export interface Destination {
  /** In the form of `URL.hostname`. */
  host: string;
  port: number;
  /** Whether the settings of the server allow addresses of the local network. */
  may_be_local: boolean;
}

/** A connection that stands still is closed. */
const idle_ms = 120_000;

/**
 * Connects to another system.
 * @param signal aborts the attempt
 * @throws BlockedError, OutboundError without a connection; the reason of the signal
 */
export async function connectTo({ host, port, may_be_local }: Destination, signal: AbortSignal): Promise<Socket> {
  const target = may_be_local ? undefined : localTargetOf(host);
  if (target !== undefined) throw new BlockedError(localTexts[target]);
  const name = host.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    host: name,
    port,
    ...(may_be_local ? {} : { lookup: guardedLookup as LookupFunction }),
  });
  socket.setTimeout(idle_ms, () => socket.destroy(new OutboundError('The other system sent nothing for two minutes')));
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
    signal.throwIfAborted();
    throw error instanceof OutboundError ? error : new OutboundError(reasonOf(error));
  }
}
