/**
 * Aborts requests whose bodies arrive too slowly, requests that keep sending after the reply, and requests whose replies are read too slowly
 * (docs/operating.md#limits). Node itself only limits the time of heads.
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

/** For endpoints and doors that take only a text. */
export const apiPace: Pace = { window_ms: 30_000, least_bytes: 30 * 1024, total_ms: 120_000 };

/** The minimum rate at which any reply must be read: meanwhile it holds a place, memory, or a git process. */
export const replyPace: Floor = { window_ms: 30_000, least_bytes: 30 * 1024 };

/** For endpoints and doors that take files or large bodies. */
export const uploadPace: Pace = { ...apiPace, total_ms: 6 * 3_600_000 };

/**
 * Only callers who may push have this much time: others are refused before their body is read, which ends the request. The body of a fetch needs less: it is a list
 * of commits, which git has before it connects.
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
      // If the buffer is full, it is this server that is too slow to read.
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

/** Internal counters of a Node connection without a public name: the bytes passed to the system, and the bytes that the system has not accepted yet. */
interface Counted {
  _handle?: { bytesWritten: number; writeQueueSize: number } | null;
}

/** The number of written bytes that a client has read, and whether more are waiting for it. */
function takenFrom(socket: Socket): { taken_bytes: number; isWaiting: boolean } {
  const { bytesWritten = 0, writeQueueSize = 0 } = (socket as Counted)._handle ?? {};
  return { taken_bytes: bytesWritten - writeQueueSize, isWaiting: writeQueueSize > 0 || socket.writableLength > 0 };
}

/**
 * Watches the replies on all connections. A connection is closed if bytes wait throughout a window and too few of them are read. A reply that is produced slowly has
 * no waiting bytes.
 * @param floor the minimum rate
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
