/** Listening to what the database notifies of: one connection of each process for a channel, beside its pool. */
import pg from 'pg';
import { HostClient } from './hosts.ts';

export type Notified = (payload: string) => void;

/** The connection that listens to a channel, and ends with the pool. */
export class Listening {
  readonly #config: pg.ClientConfig;
  readonly #channel: string;
  readonly #notified: Notified;
  readonly #lost: () => void;
  #client: Promise<pg.Client> | undefined;
  #isEnded = false;

  /**
   * @param notified called with each payload
   * @param lost called when notifications may have been missed, since the connection broke
   */
  constructor(config: pg.ClientConfig, channel: string, { notified, lost }: { notified: Notified; lost: () => void }) {
    this.#config = config;
    this.#channel = channel;
    this.#notified = notified;
    this.#lost = lost;
  }

  /**
   * Resolves when notifications arrive: what is committed from then on is not missed, until `lost` is called.
   * @throws what keeps the database from being reached
   */
  async established(): Promise<void> {
    if (this.#isEnded) throw new Error('The pool has ended.');
    this.#client ??= this.#connect();
    await this.#client;
  }

  async #connect(): Promise<pg.Client> {
    const client = new HostClient(this.#config);
    client.on('error', () => {}); // `end` follows
    client.once('end', () => this.#forget());
    client.on('notification', ({ payload = '' }) => this.#notified(payload));
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(this.#channel)}`);
      return client;
    } catch (error) {
      this.#client = undefined;
      void client.end().catch(() => {});
      throw error;
    }
  }

  #forget(): void {
    if (this.#client === undefined) return;
    this.#client = undefined;
    if (!this.#isEnded) this.#lost();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => {});
  }
}
