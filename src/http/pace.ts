/**
 * Ends requests whose bodies arrive too slowly, those that keep sending after the reply, and those whose replies are read too slowly (docs/operating.md#limits). Node itself
 * only limits the time of heads.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Floor, lookEvery_ms, pushFloor, SlowWatch } from '../foundation/pace.ts';
import { UnreadBody } from './body.ts';
import { ApiError } from './errors.ts';

export interface Pace extends Floor {
  /** The time limit of a body; none if omitted. */
  total_ms?: number;
}

/** Endpoints and doors that take no more than a text. */
export const apiPace: Pace = { window_ms: 30_000, least_bytes: 30 * 1024, total_ms: 120_000 };

/** What must be read of a reply, wherever it comes from: meanwhile it has a place, memory, or a process of git. */
export const replyPace: Floor = { window_ms: 30_000, least_bytes: 30 * 1024 };

/** Endpoints and doors that take files or large bodies. */
export const uploadPace: Pace = { ...apiPace, total_ms: 6 * 3_600_000 };

/**
 * Only callers who may push have so long: others are refused before their body is
 * read, which ends it. The body of a fetch needs no such patience: it is a list of commits, which git has before it connects.
 */
export const pushPace: Pace = { ...uploadPace, ...pushFloor };

/** The route configuration that sets a pace. */
export interface Paced {
  pace?: Pace;
}

/** How long a client may keep sending after the reply: closing at once would reset the connection, and the client would lose the reply. */
const linger_ms = 2000;

const hasBody = ({ headers }: FastifyRequest['raw']): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Watches the bodies of all requests.
 * @param usual the pace for routes that set none
 */
export function watchPace(app: FastifyInstance, usual: Pace = apiPace): void {
  // With callbacks: each `async` hook would cost every request a promise and a turn of the queue.
  app.addHook('onRequest', (request, reply, done) => {
    if (hasBody(request.raw)) watch(request, reply, (request.routeOptions.config as Paced).pace ?? usual);
    done();
  });
}

function watch(
  request: FastifyRequest,
  reply: FastifyReply,
  { window_ms, least_bytes, total_ms = Number.POSITIVE_INFINITY }: Pace,
): void {
  const { raw } = request;
  const { socket } = raw;
  const startedAt = performance.now();
  let before_bytes = socket.bytesRead;
  const timer = setInterval(
    () => {
      const received_bytes = socket.bytesRead - before_bytes;
      before_bytes = socket.bytesRead;
      if (raw.complete || socket.destroyed) clearInterval(timer);
      // A full buffer holds a client back that this server is too busy to read from.
      else if (
        performance.now() - startedAt >= total_ms ||
        (received_bytes < least_bytes && raw.readableLength === 0)
      ) {
        clearInterval(timer);
        giveUp(request, reply);
      }
    },
    Math.min(window_ms, total_ms),
  ).unref();
  for (const event of ['end', 'close']) raw.once(event, () => clearInterval(timer));
  reply.raw.once('finish', () => {
    if (raw.complete) return;
    raw.unpipe().resume();
    setTimeout(() => raw.complete || raw.destroy(), linger_ms).unref();
  });
}

function giveUp({ body, raw }: FastifyRequest, reply: FastifyReply): void {
  const refusal = new ApiError(408, { message: '408 Request Timeout' }, { connection: 'close' });
  if (reply.sent) raw.destroy();
  else if (body instanceof UnreadBody) body.abort(refusal);
  else if (body instanceof Readable) body.destroy(refusal);
  else raw.destroy();
}

/** What Node counts of a connection, and has no public name for: what it has given to the system, and what the system has not taken yet. */
interface Counted {
  _handle?: { bytesWritten: number; writeQueueSize: number } | null;
}

/** How much of what was written a client has taken, and whether there is more that it keeps waiting. */
function takenFrom(socket: Socket): { taken_bytes: number; isWaiting: boolean } {
  const { bytesWritten = 0, writeQueueSize = 0 } = (socket as Counted)._handle ?? {};
  return { taken_bytes: bytesWritten - writeQueueSize, isWaiting: writeQueueSize > 0 || socket.writableLength > 0 };
}

/**
 * Watches the replies on all connections. A connection ends on which bytes wait all through a window and too few of them are read: whoever makes a reply slowly lets none
 * wait.
 * @param floor what must be read
 */
export function watchReplies(app: FastifyInstance, floor: Floor = replyPace): void {
  const open = new Map<Socket, SlowWatch>();
  app.server.on('connection', (socket: Socket) => {
    open.set(socket, new SlowWatch(floor));
    socket.once('close', () => open.delete(socket));
  });
  const timer = setInterval(() => {
    for (const [socket, watch] of open) {
      const { taken_bytes, isWaiting } = takenFrom(socket);
      if (watch.look(isWaiting, taken_bytes)) socket.destroy();
    }
  }, lookEvery_ms(floor)).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}
