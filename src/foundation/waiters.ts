/** What waits for work to come: woken a few at a time, so that one piece of news does not make all of them look at once. */
import { setTimeout as sleep } from 'node:timers/promises';

/** How many look at once. */
const atOnce = 8;
/** One that looks slowly does not keep the others from being woken for longer. */
const patience_ms = 200;

/** One that waits. Whoever registers it looks for work afterwards, so that no news is lost between. */
export interface Waiter<K> {
  readonly kind: K;
  /**
   * Waits for news, after having looked.
   * @returns false when the signal fires before, or another waiter takes its place
   */
  news(signal: AbortSignal): Promise<boolean>;
  /** Must be called when it waits no longer. */
  leave(): void;
}

class Waiting<K> implements Waiter<K> {
  readonly kind: K;
  readonly place: string;
  isDisplaced = false;
  readonly #forget: (waiter: Waiting<K>) => void;
  #isWoken = false;
  #asleep: ((isWoken: boolean) => void) | undefined;
  /** Resolved when it has looked. */
  #looking: PromiseWithResolvers<void> | undefined;

  constructor(kind: K, place: string, forget: (waiter: Waiting<K>) => void) {
    this.kind = kind;
    this.place = place;
    this.#forget = forget;
  }

  news(signal: AbortSignal): Promise<boolean> {
    this.#looking?.resolve();
    this.#looking = undefined;
    if (signal.aborted || this.isDisplaced) return Promise.resolve(false);
    if (this.#isWoken) {
      this.#isWoken = false;
      return Promise.resolve(true);
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = () => this.#asleep?.(false);
    this.#asleep = (isWoken) => {
      this.#asleep = undefined;
      signal.removeEventListener('abort', stop);
      resolve(isWoken);
    };
    signal.addEventListener('abort', stop);
    return promise;
  }

  /** @returns resolves when it has looked */
  wake(): Promise<void> {
    const asleep = this.#asleep;
    if (!asleep) {
      this.#isWoken = true;
      return Promise.resolve();
    }
    this.#looking = Promise.withResolvers<void>();
    asleep(true);
    return this.#looking.promise;
  }

  displace(): void {
    this.isDisplaced = true;
    this.#asleep?.(false);
  }

  leave(): void {
    this.#forget(this);
    this.#looking?.resolve();
    this.#asleep?.(false);
  }
}

/** Who of the kinds may find something, asked before each step; all of them when it is not known what is new. */
export type Chosen<K, N> = (kinds: readonly K[], news: ReadonlySet<N>) => Promise<ReadonlySet<K>>;

/**
 * Those that wait in this process.
 * @template K what tells apart who can find something, such as an id
 * @template N what is new
 */
export class Waiters<K, N> {
  readonly #waiting = new Set<Waiting<K>>();
  readonly #most: number;
  readonly #chosen: Chosen<K, N>;
  #news = new Set<N>();
  #isAnything = false;
  #isPassing = false;

  /** @param most how many wait at one place; a further one takes the place of the oldest */
  constructor({ most, chosen }: { most: number; chosen: Chosen<K, N> }) {
    this.#most = most;
    this.#chosen = chosen;
  }

  get count(): number {
    return this.#waiting.size;
  }

  enter(kind: K, place: string): Waiter<K> {
    const here = [...this.#waiting].filter((other) => other.place === place && !other.isDisplaced);
    if (here.length >= this.#most) here[0]!.displace();
    const waiter = new Waiting(kind, place, (gone) => this.#waiting.delete(gone));
    this.#waiting.add(waiter);
    return waiter;
  }

  /**
   * Wakes those that may find something, the longest wait first.
   * @param news undefined when anything may be new
   */
  tell(news?: N): void {
    if (this.#waiting.size === 0) return;
    if (news === undefined) this.#isAnything = true;
    else this.#news.add(news);
    if (!this.#isPassing) void this.#pass();
  }

  async #pass(): Promise<void> {
    this.#isPassing = true;
    while (this.#isAnything || this.#news.size > 0) {
      const news = this.#isAnything ? undefined : this.#news;
      this.#isAnything = false;
      this.#news = new Set();
      await this.#wakeFor(news);
    }
    this.#isPassing = false;
  }

  async #wakeFor(news: ReadonlySet<N> | undefined): Promise<void> {
    const left = new Set(this.#waiting);
    while (left.size > 0) {
      const next = [...(await this.#ableOf(left, news))].slice(0, atOnce);
      if (next.length === 0) return;
      for (const waiter of next) left.delete(waiter);
      const slow = new AbortController();
      const looks = Promise.all(next.map((waiter) => waiter.wake())).then(() => slow.abort());
      await Promise.race([looks, sleep(patience_ms, undefined, { signal: slow.signal }).catch(() => {})]);
      for (const waiter of left) if (!this.#waiting.has(waiter)) left.delete(waiter);
    }
  }

  /** Without an answer, all look themselves. */
  async #ableOf(left: ReadonlySet<Waiting<K>>, news: ReadonlySet<N> | undefined): Promise<Iterable<Waiting<K>>> {
    if (!news) return left;
    const kinds = [...new Set([...left].map(({ kind }) => kind))];
    const chosen = await this.#chosen(kinds, news).catch(() => undefined);
    return chosen ? [...left].filter(({ kind }) => chosen.has(kind)) : left;
  }
}
