import { type DatabaseIntrospector, type Kysely, PostgresDialect, sql } from 'kysely';

/** PostgreSQL for Kysely, whose migrator asks before each step whether its own tables exist: to describe every column of all tables would take 20 ms each time. */
export class Dialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return {
      async getSchemas() {
        const { rows } = await sql<{ name: string }>`select nspname as name from pg_namespace`.execute(db);
        return rows;
      },
      async getTables() {
        const { rows } = await sql<{ schema: string; name: string }>`
          select schemaname as schema, tablename as name from pg_tables where starts_with(tablename, 'kysely_')`.execute(db);
        return rows.map((table) => ({ ...table, isView: false, isForeign: false, columns: [] }));
      },
    };
  }
}
