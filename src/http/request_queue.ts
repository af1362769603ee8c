/**
 * Bounds how many requests are worked on at once, in a process that cannot keep up (docs/decisions/0065). The others wait, and those from one source take turns
 * with those from others, so whoever sends the most waits the longest.
 */
import { FairQueue } from '../foundation/fair_queue.ts';

/** How many requests are worked on at once: to begin with, while a process keeps up, and in one that is as slow as can be. */
export const firstAtOnce = 64;
const maximumAtOnce = 1000;
const leastAtOnce = 16;
/** The step down, while requests are delayed, and the step up, while they are not. From the least to the first it is less than a second of looks. */
const down = 0.8;
const up = 1.1;
const recovery = 1.25;

/** When requests have been waiting without a break for this long, more come than can be answered: each then waits only for a share of its patience. */
const standing_ms = 5000;
const standingShare = 0.12;
/** A client can send many requests on one connection before it reads an answer. */
const maximumWaiting = 10_000;
const maximumWaitingOfSource = 1000;

export interface Turn {
  /** The requests of one source take turns with those of others. */
  source: string;
  /** How long the client is willing to wait. */
  patience_ms: number;
  /** Starts the work on the request. */
  start(): void;
  refuse(): void;
  /** Whether no one waits for the answer any more. */
  isGone(): boolean;
}

export class RequestQueue {
  readonly #waiting = new FairQueue<{ turn: Turn; since: number }>();
  /** Since when requests have been waiting without a break. */
  #standingSince: number | undefined;
  #atOnce = firstAtOnce;
  #working = 0;
  #refused = 0;

  get load(): { working: number; waiting: number; at_once: number; refused: number } {
    return { working: this.#working, waiting: this.#waiting.length, at_once: this.#atOnce, refused: this.#refused };
  }

  /**
   * Starts the work on a request now or when its turn comes, or refuses it. The work ends with `leave`.
   * @param now the time in milliseconds
   */
  enter(turn: Turn, now: number): void {
    const { length } = this.#waiting;
    if (length === 0 && this.#working < this.#atOnce) this.#start(turn);
    else if (length < maximumWaiting && this.#waiting.lengthOf(turn.source) < maximumWaitingOfSource) {
      this.#waiting.add(turn.source, { turn, since: now });
      this.#standingSince ??= now;
    } else this.#refuse(turn);
  }

  /** The work on a request has ended, or pauses because the client has to send something. */
  leave(): void {
    this.#working--;
    this.#startNext();
  }

  /** The work goes on after a pause, whatever else is worked on. */
  resume(): void {
    this.#working++;
  }

  /**
   * Adapts to what was measured since the last call, and refuses requests that have waited for too long.
   * @param isDelayed whether requests take longer because there are this many of them
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
      const next = this.#waiting.take();
      if (next === undefined) break;
      if (!next.turn.isGone()) this.#start(next.turn);
    }
    this.#noteEmpty();
  }

  #noteEmpty(): void {
    if (this.#waiting.length === 0) this.#standingSince = undefined;
  }

  #start(turn: Turn): void {
    this.#working++;
    turn.start();
  }

  #refuse(turn: Turn): void {
    this.#refused++;
    turn.refuse();
  }
}
