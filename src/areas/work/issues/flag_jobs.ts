/** Filling in whether old issues have labels and assignees, which is kept beside those that have been written since. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';

/** So many are locked at a time, for a fraction of a second. */
const atOnce = 500;

/** Of some issues; the number of them. They are locked first, so that what is read afterwards stays true. */
const fillSome = (db: Database): Promise<number> =>
  db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: number }>`
      select id from issues where is_labelled is null or is_assigned is null order by id limit ${sql.lit(atOnce)} for no key update`.execute(
      tx,
    );
    await sql`
      update issues set is_labelled = exists (select from issue_labels where issue_id = issues.id),
                        is_assigned = exists (select from issue_assignees where issue_id = issues.id)
       where id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(tx);
    return rows.length;
  });

/** Once all are filled, it finds none in an empty index. */
export const fillIssueFlags = job('fill_issue_flags', {
  input: {},
  retries: 0,
  schedule: '*/15 * * * *',
  async run({ db, signal }) {
    while ((await fillSome(db)) > 0) signal.throwIfAborted();
  },
});
