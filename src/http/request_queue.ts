/**
 * Limits the number of concurrent requests in an overloaded process (docs/decisions/0065). The others wait. Sources take turns, so the source that sends the most
 * waits the longest.
 */
import { FairQueue } from '../foundation/fair_queue.ts';

/** The number of concurrent requests: initially, in a process that is not overloaded, and in the slowest one. */
export const firstAtOnce = 64;
const maximumAtOnce = 1000;
const leastAtOnce = 16;
/** While a process is overloaded, one source has at most this share of the concurrent requests, so that other sources do not wait for its requests. */
const shareOfSource = 1 / 4;
/** The step down while requests are delayed, and the step up while they are not. Increasing from the minimum to the initial number takes less than a second of samples. */
const down = 0.8;
const up = 1.1;
const recovery = 1.25;

/** When requests have been waiting without a break for this long, more arrive than can be answered: each then waits only for a share of its patience. */
const standing_ms = 5000;
const standingShare = 0.12;
/** A client can send many requests on one connection before it reads an answer. */
const maximumWaiting = 10_000;
const maximumWaitingOfSource = 1000;

/** The next piece of work on a request. */
export interface Piece {
  /** The requests of one source take turns with those of others. */
  source: string;
  /** Starts the work. */
  start(): void;
  /** Whether the client no longer waits for the answer. */
  isGone(): boolean;
}

export interface Turn extends Piece {
  /** How long the client is willing to wait. */
  patience_ms: number;
  refuse(): void;
}

export class RequestQueue {
  readonly #waiting = new FairQueue<{ turn: Turn; since: number }>();
  /** Resumed work comes before new requests. */
  readonly #resuming = new FairQueue<Piece>();
  /** The number of running requests of each source. */
  readonly #working_of = new Map<string, number>();
  /** Since when requests have been waiting without a break. */
  #standingSince: number | undefined;
  #atOnce = firstAtOnce;
  #working = 0;
  #refused = 0;

  get load(): { working: number; waiting: number; at_once: number; refused: number } {
    return { working: this.#working, waiting: this.#waiting.length, at_once: this.#atOnce, refused: this.#refused };
  }

  /**
   * Starts the work on a request now or when its turn comes, or refuses it. The caller ends the work with `leave`.
   * @param now the time in milliseconds
   */
  enter(turn: Turn, now: number): void {
    if (this.#waiting.length >= maximumWaiting || this.#waiting.lengthOf(turn.source) >= maximumWaitingOfSource)
      return this.#refuse(turn);
    this.#waiting.add(turn.source, { turn, since: now });
    this.#standingSince ??= now;
    this.#startNext();
  }

  /** The work on a request of a source has ended, or pauses because the client has to send data. */
  leave(source: string): void {
    const left = this.#working_of.get(source)! - 1;
    if (left === 0) this.#working_of.delete(source);
    else this.#working_of.set(source, left);
    this.#working--;
    this.#startNext();
  }

  /** The work resumes after a pause, when its turn comes. It is not refused: the client has sent its data. */
  resume(piece: Piece): void {
    this.#resuming.add(piece.source, piece);
    this.#startNext();
  }

  /** The work resumes after a pause, regardless of the limit. */
  goOn(source: string): void {
    this.#working++;
    this.#working_of.set(source, (this.#working_of.get(source) ?? 0) + 1);
  }

  /**
   * Adapts to the measurements since the last call, and refuses requests that have waited too long.
   * @param isDelayed whether requests take longer because of their number
   */
  adapt(isDelayed: boolean, now: number): void {
    if (isDelayed) this.#atOnce = Math.max(leastAtOnce, Math.floor(Math.min(this.#atOnce, this.#working) * down));
    else if (this.#atOnce < firstAtOnce) this.#atOnce = Math.min(firstAtOnce, Math.ceil(this.#atOnce * recovery));
    else if (this.#working >= this.#atOnce) this.#atOnce = Math.min(maximumAtOnce, Math.ceil(this.#atOnce * up));
    this.#startNext();
    this.#endWaits(now);
  }

  #endWaits(now: number): void {
    const share = this.#standingSince !== undefined && now - this.#standingSince > standing_ms ? standingShare : 1;
    const ended = this.#waiting.remove(({ turn, since }) => now - since > turn.patience_ms * share || turn.isGone());
    this.#noteEmpty();
    for (const { turn } of ended) if (!turn.isGone()) this.#refuse(turn);
  }

  #startNext(): void {
    while (this.#working < this.#atOnce) {
      const next = this.#resuming.take(this.#hasItsShare) ?? this.#waiting.take(this.#hasItsShare)?.turn;
      if (next === undefined) break;
      if (!next.isGone()) this.#start(next);
    }
    this.#noteEmpty();
  }

  #hasItsShare = (source: string): boolean =>
    this.#atOnce < firstAtOnce && (this.#working_of.get(source) ?? 0) >= Math.floor(this.#atOnce * shareOfSource);

  #noteEmpty(): void {
    if (this.#waiting.length === 0) this.#standingSince = undefined;
  }

  #start(piece: Piece): void {
    this.goOn(piece.source);
    piece.start();
  }

  #refuse(turn: Turn): void {
    this.#refused++;
    turn.refuse();
  }
}
