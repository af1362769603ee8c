/** Which blobs the rows of the database refer to. */
import type pg from 'pg';
import { areaServices } from '../areas/index.ts';
import type { BlobKey, Blobs } from '../blobs/index.ts';
import { fromOf, keyOf } from '../services/index.ts';

/** A blob that a row refers to. */
export interface BlobReference {
  key: BlobKey;
  /** The table of the row. */
  owner: string;
}

const rowsAtOnce = 1000;

/** All references, as a query with the columns `key` and `owner`. */
const references = areaServices.stored_files
  .map(
    (files) =>
      `select ${keyOf(files)} as key, '${files.table}' as owner from ${fromOf(files)} where ${files.key} is not null`,
  )
  .join(' union all ');

/** @returns the table that has a row of this blob; undefined when none has */
export async function ownerOf(client: pg.ClientBase, key: string): Promise<string | undefined> {
  const { rows } = await client.query<{ owner: string }>(
    `select owner from (${references}) referring where key = $1 limit 1`,
    [key],
  );
  return rows[0]?.owner;
}

/** Remembers keys in a temporary table, because there may be millions of them. */
export class RememberedKeys {
  readonly #client: pg.ClientBase;
  #waiting: string[] = [];

  private constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  static async begin(client: pg.ClientBase): Promise<RememberedKeys> {
    await client.query('create temporary table remembered_keys (key text primary key)');
    return new RememberedKeys(client);
  }

  async add(key: BlobKey): Promise<void> {
    this.#waiting.push(key);
    if (this.#waiting.length >= rowsAtOnce) await this.#write();
  }

  async #write(): Promise<void> {
    const keys = this.#waiting;
    this.#waiting = [];
    await this.#client.query('insert into remembered_keys select unnest($1::text[]) on conflict do nothing', [keys]);
  }

  /** The references of rows, as the database is now, to blobs that are neither remembered nor in the store. */
  async missing(blobs: Blobs): Promise<BlobReference[]> {
    await this.#write();
    const { rows } = await this.#client.query<BlobReference>(
      `select distinct on (key) key, owner from (${references}) referring
        where not exists (select from remembered_keys where remembered_keys.key = referring.key) order by key, owner`,
    );
    const missing: BlobReference[] = [];
    // What was added since the keys were read is in the store.
    for (const reference of rows) if (!(await blobs.stat(reference.key))) missing.push(reference);
    return missing;
  }
}
