/** Times of requests that are sent at a steady rate. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Sample {
  /** From when the request was due to its answer. */
  waited_ms: number;
  ok: boolean;
}

export class Times {
  readonly #samples: Sample[];

  constructor(samples: Sample[] = []) {
    this.#samples = samples;
  }

  add(sample: Sample): void {
    this.#samples.push(sample);
  }

  get errors(): number {
    return this.#samples.filter(({ ok }) => !ok).length;
  }

  longerThan(limit_ms: number): number {
    return this.#samples.filter(({ waited_ms }) => waited_ms > limit_ms).length;
  }

  /** In milliseconds: the time that this share of the requests did not exceed. */
  at(share: number): number {
    const sorted = this.#samples.map(({ waited_ms }) => waited_ms).toSorted((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! * 10) / 10;
  }

  get row() {
    return {
      requests: this.#samples.length,
      errors: this.errors,
      p50_ms: this.at(0.5),
      p99_ms: this.at(0.99),
      longest_ms: this.at(1),
    };
  }
}

/** Sends at a steady rate until `end`; resolves when the last was answered. Times count from when a request was due. */
export async function atRate(interval_ms: number, end: number, send: (due: number) => Promise<void>): Promise<void> {
  const sent: Promise<void>[] = [];
  for (let due = performance.now(); due < end; due += interval_ms) {
    const early_ms = due - performance.now();
    if (early_ms > 1) await sleep(early_ms);
    sent.push(send(due));
  }
  await Promise.all(sent);
}
