/**
 * Sheds load: while the event loop or the connections of the database delay requests, requests queue, and the ones that have waited too long are answered with 503
 * (docs/operating.md#overload).
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { threadCpuUsage } from 'node:process';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Database, poolDelays } from '../db/index.ts';
import { sourceOf } from '../foundation/source_of.ts';
import { tooBusy } from './errors.ts';
import { firstAtOnce, RequestQueue } from './request_queue.ts';

/** The sampling interval. A single garbage collection is over by then. */
const interval_ms = 100;
const resolution_ms = 10;
/** A process with longer delays than these is overloaded. */
const loopDelay_ms = 10;
/** A commit acquires a connection ten times, one after the other. */
const connectionDelay_ms = 40;
/**
 * A disk that stalls delays all writes for up to half a second, and then completes them quickly. If writes are delayed at more samples than these, the cause is
 * another one.
 */
const maximumPause = 10;
/** A client of the API would rather wait than be refused, up to this time; most time out later. */
const usualPatience_ms = 10_000;
/** Clients of git do not retry a refused request: the clone or the push fails. */
export const gitPatience_ms = 30_000;
/** Overload has ended when no request was refused for this long. */
const calm_ms = 10_000;

/** Returns whether requests were delayed since the last call. */
export type LoadMeter = () => boolean;

/** The delay of callbacks on the event loop of this process, and the longest waits of statements for a connection and for a slot to write. */
interface Delays {
  loop_ms: number;
  any_ms: number;
  writing_ms: number;
}

/** Decides from the delays at each sample whether a process is overloaded. */
export function judgeOfDelays(): (delays: Delays) => boolean {
  let looks = 0;
  return ({ loop_ms, any_ms, writing_ms }) => {
    looks = writing_ms > connectionDelay_ms ? looks + 1 : 0;
    return loop_ms > loopDelay_ms || any_ms > connectionDelay_ms || looks > maximumPause;
  };
}

/** @returns a function that returns the share of the time since its last call in which this thread had a processor */
function shareOfProcessor(): () => number {
  let before = threadCpuUsage();
  let askedAt = performance.now();
  return () => {
    const used = threadCpuUsage(before);
    const elapsed_ms = performance.now() - askedAt;
    before = threadCpuUsage();
    askedAt += elapsed_ms;
    return (used.user + used.system) / 1000 / elapsed_ms;
  };
}

/**
 * Measures the delay of the event loop of this process and of the connections to the database. Callbacks are also late when other programs use the processors; that
 * part of a delay is not counted, since fewer requests would not shorten it.
 * @param db the database whose pool is watched
 */
export function loadMeter(db: Database): LoadMeter {
  const loop = monitorEventLoopDelay({ resolution: resolution_ms });
  loop.enable();
  const isDelayed = judgeOfDelays();
  const share = shareOfProcessor();
  return () => {
    const loop_ms = (loop.mean / 1e6 - resolution_ms) * share();
    loop.reset();
    return isDelayed({ loop_ms, ...poolDelays(db) });
  };
}

/** The route configuration for overload. */
export interface Queued {
  /** Urgent requests are served however many wait: they come from supervisors, or the client has already done its work. */
  urgent?: boolean;
  /** The maximum wait, if it differs from the usual one. */
  patience_ms?: number;
}

/** The slot of a running request. It is released while the client sends the body, and ends with the first byte of the reply. */
class Slot {
  readonly #queue: RequestQueue;
  readonly #source: string;
  #state: 'working' | 'paused' | 'ended' = 'working';
  #ended: (() => void) | undefined;

  constructor(queue: RequestQueue, source: string) {
    this.#queue = queue;
    this.#source = source;
  }

  /** How many slots there are at present. */
  get count(): number {
    return this.#queue.load.at_once;
  }

  pause(): void {
    if (this.#state !== 'working') return;
    this.#state = 'paused';
    this.#queue.leave(this.#source);
  }

  /** Resumes when its turn comes. Also resolves when the request has ended meanwhile. */
  resume(): Promise<void> {
    if (this.#state !== 'paused') return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const start = () => {
      this.#state = 'working';
      resolve();
    };
    this.#ended = resolve;
    this.#queue.resume({ source: this.#source, start, isGone: () => this.#state === 'ended' });
    return promise;
  }

  /** Resumes at once: the work continued during the pause. */
  goOn(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'working';
    this.#queue.goOn(this.#source);
  }

  end(): void {
    if (this.#state === 'working') this.#queue.leave(this.#source);
    this.#state = 'ended';
    this.#ended?.();
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for urgent requests, and where load is not shed. */
    slot: Slot | undefined;
  }
}

/** The maximum number of concurrent requests of this kind. */
export const slotsFor = ({ slot }: FastifyRequest): number => slot?.count ?? firstAtOnce;

/** Queues the requests of `app`, and logs when overload begins and ends. */
export function shedLoad(app: FastifyInstance, isDelayed: LoadMeter, log: Pick<Logger, 'warn'>): RequestQueue {
  const queue = new RequestQueue();
  const report = reporter(log);
  const timer = setInterval(() => {
    const now = performance.now();
    queue.adapt(isDelayed(), now);
    report(queue.load.refused, now);
  }, interval_ms).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
  app.decorateRequest('slot', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    const { urgent, patience_ms = usualPatience_ms } = request.routeOptions.config as Queued;
    if (urgent) return done();
    const source = sourceOf(request.ip);
    const start = () => {
      request.slot = slotOf(queue, source, reply);
      done();
    };
    const turn = { source, patience_ms, start, refuse: () => done(tooBusy()), isGone: () => request.raw.destroyed };
    queue.enter(turn, performance.now());
  });
  app.addHook('onSend', ({ slot }: FastifyRequest, _reply, _payload, done) => {
    slot?.end();
    done();
  });
  return queue;
}

function slotOf(queue: RequestQueue, source: string, reply: FastifyReply): Slot {
  const slot = new Slot(queue, source);
  reply.raw.once('close', () => slot.end());
  return slot;
}

/** Logs a line when requests begin to be refused, and one with their number when that ends. */
function reporter(log: Pick<Logger, 'warn'>) {
  let reported = 0;
  let last = 0;
  let lastAt: number | undefined;
  return (refused: number, now: number) => {
    if (refused > last) {
      if (lastAt === undefined) log.warn('overloaded: requests are refused with 503');
      last = refused;
      lastAt = now;
    } else if (lastAt !== undefined && now - lastAt > calm_ms) {
      log.warn({ refused_requests: refused - reported }, 'no longer overloaded');
      reported = refused;
      lastAt = undefined;
    }
  };
}
