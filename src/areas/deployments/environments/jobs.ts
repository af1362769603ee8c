/** Stops expired environments, and deletes expired review apps. */
import { type SqlBool, sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { stopEnvironments } from './actions.ts';

const [stopped, deleted] = [sql.lit(1000), sql.lit(20)];

/** Every minute: stops environments that are due, and deletes review apps that were stopped long ago. */
export const endEnvironments = job('end_environments', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ db, signal }) => {
    const isDue = sql<SqlBool>`auto_stop_at <= now() limit ${stopped} for update skip locked`;
    const removal = sql`delete from environments where id in (
      select id from environments where state = 'stopped' and auto_delete_at <= now() limit ${deleted} for update skip locked)`;
    const steps = [
      () => db.transaction().execute((tx) => stopEnvironments(tx, isDue, { user_id: null })),
      async () => Number((await removal.execute(db)).numAffectedRows ?? 0n),
    ];
    for (const step of steps)
      for (let count = 1; count > 0; ) {
        signal.throwIfAborted();
        count = await step();
      }
  },
});
