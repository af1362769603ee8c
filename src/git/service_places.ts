/**
 * Bounds how many processes of git serve fetches and pushes, over HTTP and SSH together (docs/decisions/0066-git-has-places.md). Those that find no place
 * wait for one.
 */

export interface PlaceLimits {
  /** How many run at once: in all, in one repository and for one client. */
  all: number;
  per_repository: number;
  per_client: number;
  /** How many wait: in all, and for one client. */
  waiting: number;
  waiting_per_client: number;
  wait_ms: number;
}

/** What a place is taken for. */
export interface Claim {
  /** The source of the connection. */
  client: string;
  /** The path of the repository. */
  repository: string;
}

/** Too many wait for a place, or it took too long to become free. */
export class GitBusy extends Error {
  override name = 'GitBusy';
}

interface Waiting extends Claim {
  start(): void;
}

const count = (claims: Iterable<Claim>, by: keyof Claim, { [by]: value }: Claim): number =>
  [...claims].filter((claim) => claim[by] === value).length;

export class ServicePlaces {
  readonly #limits: PlaceLimits;
  readonly #taken = new Set<Claim>();
  readonly #waiting = new Set<Waiting>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place, or waits for one. Returns a function that gives it back.
   * @param signal gives up waiting
   * @throws GitBusy, and the reason of the signal
   */
  async take({ client, repository }: Claim, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const claim = { client, repository };
    if (this.#fits(claim)) this.#taken.add(claim);
    else await this.#turn(claim, signal);
    return () => {
      if (this.#taken.delete(claim)) this.#startNext();
    };
  }

  #fits(claim: Claim): boolean {
    const { all, per_repository, per_client } = this.#limits;
    return (
      this.#taken.size < all &&
      count(this.#taken, 'repository', claim) < per_repository &&
      count(this.#taken, 'client', claim) < per_client
    );
  }

  async #turn(claim: Claim, signal: AbortSignal | undefined): Promise<void> {
    const { waiting: most, waiting_per_client, wait_ms } = this.#limits;
    const isTooMany = this.#waiting.size >= most || count(this.#waiting, 'client', claim) >= waiting_per_client;
    if (isTooMany) throw new GitBusy('too many wait for git');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      this.#waiting.delete(waiting);
      this.#taken.add(claim);
      resolve();
    };
    const waiting = { ...claim, start };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => reject(new GitBusy(`waited ${wait_ms} ms for git`)), wait_ms);
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

  /** Of those that could start, one whose client has the fewest places comes first: many requests of a few clients keep no other waiting. */
  #startNext(): void {
    const fitting = [...this.#waiting].filter((waiting) => this.#fits(waiting));
    const [next] = fitting.toSorted((a, b) => count(this.#taken, 'client', a) - count(this.#taken, 'client', b));
    if (next === undefined) return;
    next.start();
    this.#startNext();
  }
}
