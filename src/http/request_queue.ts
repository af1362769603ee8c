/**
 * Bounds how many requests are worked on at once, in a process that cannot keep up (docs/decisions/0033). The others wait in order, for as long as a
 * client is willing to; those that would wait longer are refused at once.
 */

/** How many requests are worked on at once: to begin with, while a process keeps up, and in one that is as slow as can be. */
const firstAtOnce = 64;
const mostAtOnce = 1000;
const leastAtOnce = 16;
/** The step down, while requests are delayed, and the step up, while they are not. */
const down = 0.8;
const up = 1.1;

/** How long a request is expected to wait at most when it joins the queue, and how long it really may. */
const expectedWait_ms = 300;
const longestWait_ms = 550;
/** The queue may always be this long: a rate that was measured in a quiet moment says little. */
const shortestQueue = 64;

export interface Turn {
  /** Starts the work on the request. */
  start(): void;
  refuse(): void;
  /** Whether nobody waits for the answer any more. */
  isGone(): boolean;
}

export class RequestQueue {
  #atOnce = firstAtOnce;
  #working = 0;
  #finished = 0;
  #refused = 0;
  #perSecond = 0;
  #lookedAt: number;
  #waiting: { turn: Turn; since: number }[] = [];

  /** @param now the time in milliseconds */
  constructor(now: number) {
    this.#lookedAt = now;
  }

  get load(): { working: number; waiting: number; at_once: number; refused: number } {
    return { working: this.#working, waiting: this.#waiting.length, at_once: this.#atOnce, refused: this.#refused };
  }

  /** Starts the work on a request now or when its turn comes, or refuses it. The work ends with `leave`. */
  enter(turn: Turn, now: number): void {
    if (this.#waiting.length === 0 && this.#working < this.#atOnce) this.#start(turn);
    else if (this.#waiting.length < Math.max(shortestQueue, (this.#perSecond * expectedWait_ms) / 1000))
      this.#waiting.push({ turn, since: now });
    else this.#refuse(turn);
  }

  /** The work on a request has ended, or pauses because the client has to send something. */
  leave(): void {
    this.#working--;
    this.#finished++;
    this.#startNext();
  }

  /** The work goes on after a pause, whatever else is worked on. */
  resume(): void {
    this.#working++;
    this.#finished--;
  }

  /**
   * Adapts to what was measured since the last call, and refuses requests that have waited for too long.
   * @param isDelayed whether requests take longer because there are so many of them
   */
  adapt(isDelayed: boolean, now: number): void {
    const seconds = (now - this.#lookedAt) / 1000;
    this.#lookedAt = now;
    this.#perSecond += (this.#finished / seconds - this.#perSecond) / 4;
    this.#finished = 0;
    if (isDelayed) this.#atOnce = Math.max(leastAtOnce, Math.floor(Math.min(this.#atOnce, this.#working) * down));
    else if (this.#working >= this.#atOnce) this.#atOnce = Math.min(mostAtOnce, Math.ceil(this.#atOnce * up));
    const late = this.#waiting.findLastIndex(({ since }) => now - since > longestWait_ms) + 1;
    for (const { turn } of this.#waiting.splice(0, late)) this.#refuse(turn);
    this.#startNext();
  }

  #startNext(): void {
    while (this.#working < this.#atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (!next.turn.isGone()) this.#start(next.turn);
    }
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
