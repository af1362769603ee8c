/** Stops expired environments, and deletes expired review apps. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';

const [stopped, deleted] = [sql.lit(1000), sql.lit(20)];

/** Every minute: stops environments that are due, and deletes review apps that were stopped long ago. */
export const endEnvironments = job('end_environments', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ db, signal }) => {
    const statements = [
      sql`update environments set state = 'stopped', updated_at = now() where id in (
            select id from environments where state = 'available' and auto_stop_at <= now() limit ${stopped} for update skip locked)`,
      sql`delete from environments where id in (
            select id from environments where state = 'stopped' and auto_delete_at <= now() limit ${deleted} for update skip locked)`,
    ];
    for (const statement of statements)
      for (let count = 1n; count > 0n; ) {
        signal.throwIfAborted();
        count = (await statement.execute(db)).numAffectedRows ?? 0n;
      }
  },
});
