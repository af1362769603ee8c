/** The hosts of a database, one of which accepts writes (docs/operating.md#a-database-that-fails-over). */
import pg from 'pg';
import { hostsOf } from './host_addresses.ts';
import { OnStandby } from './unavailable.ts';

/** By address, which of its hosts is tried next. */
const turns = new Map<string, number>();

/** The host that has answered last, or the next one after it has failed. */
function hostNow(address: string): string {
  const hosts = hostsOf(address);
  return hosts[(turns.get(address) ?? 0) % hosts.length]!;
}

/** A connection to the host that accepts writes. An attempt tries one host, and the next attempt another one if that fails. */
export class HostClient extends pg.Client {
  readonly #address: string;
  readonly #host: string;

  /** @param config with the address as `connectionString`; the types of pg let it be left out */
  constructor({ connectionString = '', ...config }: pg.ClientConfig = {}) {
    const host = hostNow(connectionString);
    super({ ...config, connectionString: host });
    this.#address = connectionString;
    this.#host = host;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares two overloads; its pool uses the one with a callback.
  override connect(callback?: any): any {
    const connecting = this.#connect();
    if (callback === undefined) return connecting;
    connecting.then(() => callback(), callback);
  }

  async #connect(): Promise<void> {
    try {
      await super.connect();
      if (await this.#isOnStandby()) throw new OnStandby();
    } catch (error) {
      if (hostNow(this.#address) === this.#host) turns.set(this.#address, (turns.get(this.#address) ?? 0) + 1);
      throw error;
    }
  }

  /** The pool ends no connection of which an attempt has failed. */
  async #isOnStandby(): Promise<boolean> {
    let is_standby = true;
    try {
      const { rows } = await super.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby');
      is_standby = rows[0]!.is_standby;
      return is_standby;
    } finally {
      if (is_standby) void super.end().catch(() => {});
    }
  }
}
