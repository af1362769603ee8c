import {
  type DatabaseIntrospector,
  type Driver,
  type Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  sql,
} from 'kysely';
import type { Semaphore } from '../foundation/semaphore.ts';
import { LimitingDriver } from './driver.ts';

/** PostgreSQL for Kysely, whose migrator checks before each step whether its own tables exist: describing every column of all tables would take 20 ms each time. */
export class Dialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;
  readonly #slots: Semaphore;

  constructor(config: PostgresDialectConfig, slots: Semaphore) {
    super(config);
    this.#config = config;
    this.#slots = slots;
  }

  override createDriver(): Driver {
    return new LimitingDriver(this.#config, this.#slots);
  }

  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return {
      async getSchemas() {
        const { rows } = await sql<{ name: string }>`select nspname as name from pg_namespace`.execute(db);
        return rows;
      },
      async getTables() {
        const { rows } = await sql<{ schema: string; name: string }>`
          select schemaname as schema, tablename as name from pg_tables where starts_with(tablename, 'kysely_')`.execute(
          db,
        );
        return rows.map((table) => ({ ...table, isView: false, isForeign: false, columns: [] }));
      },
    };
  }
}
