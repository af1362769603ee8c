/**
 * Places for long work: the number of each kind in this process, and the maximum per address, user and repository. Requests without a place wait for one
 * (docs/decisions/0066-git-has-places.md).
 */
import { currentClient } from './clients.ts';

/** The claim for a place. */
export interface Claim {
  /** The source of the connection. */
  address: string;
  /** The id of the user, if they are known. */
  person?: number | undefined;
  /** The path of the repository, if the work concerns one. */
  repository?: string | undefined;
  /** The other system, if the work waits for one. */
  peer?: string | undefined;
}

/** The maximum number of places: in total, and per address, user, repository and other system. */
type Limits = { all: number } & { readonly [Name in keyof Claim as `per_${Name}`]?: number };

export interface PlaceLimits {
  limits: Limits | (() => Limits);
  /** The maximum number of waiting claims: in total, and per address. */
  waiting: number;
  waiting_per_address: number;
  wait_ms: number;
}

/** Too many claims wait for a place, or none became free in time. */
export class NoPlace extends Error {
  override name = 'NoPlace';
}

interface Waiting extends Claim {
  start(): void;
}

/** The number of claims with the same address, user or repository. */
const count = (claims: Iterable<Claim>, by: keyof Claim, { [by]: value }: Claim): number =>
  [...claims].filter((claim) => claim[by] === value).length;

const kinds = ['address', 'person', 'repository', 'peer'] as const;

export class Places {
  readonly #rules: PlaceLimits;
  readonly #taken = new Set<Claim>();
  readonly #waiting = new Set<Waiting>();

  constructor(rules: PlaceLimits) {
    this.#rules = rules;
  }

  /**
   * Acquires a place, or waits for one. Returns a function that releases it.
   * @param signal gives up waiting
   * @throws NoPlace, and the reason of the signal
   */
  async take({ address, person, repository, peer }: Claim, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const claim = { address, person, repository, peer };
    if (this.#fits(claim)) this.#taken.add(claim);
    else await this.#turn(claim, signal);
    return () => {
      if (this.#taken.delete(claim)) this.#startNext();
    };
  }

  /** Acquires a place for the current client. Work of the server itself needs none. */
  async takeForClient(about: Pick<Claim, 'repository' | 'peer'>, signal?: AbortSignal): Promise<() => void> {
    const client = currentClient();
    if (!client) return () => {};
    return this.take({ address: client.source, person: client.person, ...about }, signal);
  }

  #fits(claim: Claim): boolean {
    const { limits } = this.#rules;
    const { all, ...most } = typeof limits === 'function' ? limits() : limits;
    const has = (by: keyof Claim) =>
      claim[by] === undefined || count(this.#taken, by, claim) < (most[`per_${by}`] ?? Number.POSITIVE_INFINITY);
    return this.#taken.size < all && kinds.every(has);
  }

  async #turn(claim: Claim, signal: AbortSignal | undefined): Promise<void> {
    const { waiting: most, waiting_per_address, wait_ms } = this.#rules;
    const isTooMany = this.#waiting.size >= most || count(this.#waiting, 'address', claim) >= waiting_per_address;
    if (isTooMany) throw new NoPlace('too many wait for a place');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      this.#waiting.delete(waiting);
      this.#taken.add(claim);
      resolve();
    };
    const waiting = { ...claim, start };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => reject(new NoPlace(`waited ${wait_ms} ms for a place`)), wait_ms);
    const giveUp = () => reject(signal!.reason);
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      this.#waiting.delete(waiting);
    }
  }

  /** Of the claims that could start, one whose address has the fewest places comes first: many requests of a few clients do not delay the others. */
  #startNext(): void {
    const fitting = [...this.#waiting].filter((waiting) => this.#fits(waiting));
    const [next] = fitting.toSorted((a, b) => count(this.#taken, 'address', a) - count(this.#taken, 'address', b));
    if (next === undefined) return;
    next.start();
    this.#startNext();
  }
}
