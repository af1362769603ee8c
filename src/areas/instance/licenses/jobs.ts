/** Background work of licenses: counting seats, and notifying administrators before a license ends. */
import { sql } from 'kysely';
import { recipientFor } from '../../../access/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';
import { recordBillableCount } from './seat_queries.ts';

/** Runs early every day, and on request. */
export const recordBillableUsers = job('record_billable_users', {
  input: {},
  retries: 3,
  schedule: '5 0 * * *',
  run: ({ db }) => recordBillableCount(db),
});

/** Notifies one administrator, unless the license is no longer current or a successor is installed. */
export const tellOfLicenseEnd = job('tell_of_license_end', {
  input: { license_id: Id, user_id: Id },
  retries: mailRetries,
  run: async ({ db, url, mailer, input: { license_id, user_id } }) => {
    const license = await db
      .selectFrom('licenses')
      .innerJoin('current_license', 'current_license.id', 'licenses.id')
      .select(['licenses.plan', 'licenses.expires_at', 'licenses.trial'])
      .where('licenses.id', '=', license_id)
      .executeTakeFirst();
    const to = await recipientFor(db, user_id);
    if (!license?.expires_at || !to) return;
    await mailer.send({
      to,
      id: `license-${license_id}-end-${user_id}`,
      subject: 'The license of the server ends',
      paragraphs: [
        {
          facts: [
            ['Server', url],
            ['Plan', license.plan],
            ['Ends', license.expires_at],
          ],
        },
        license.trial
          ? 'It is a trial: what the plan offers ends with it, unless another license is installed before.'
          : 'What the plan offers stays for the time being. Another license is installed with POST /api/v4/license.',
      ],
    });
  },
});

/** Every day: notifies administrators once about a current license that ends soon. */
export const warnOfLicenseEnd = job('warn_of_license_end', {
  input: {},
  retries: 3,
  schedule: '20 6 * * *',
  run: async ({ db }) =>
    db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ id: number }>`
        update licenses set notified_at = now()
         where id = (select id from current_license where not expired) and notified_at is null and notify_admins_at <= current_date and expires_at is not null
        returning id`.execute(tx);
      const [license] = rows;
      if (!license) return;
      const admins = tx.selectFrom('users').select('id').where('admin', '=', true).where('state', '=', 'active');
      const inputs = (await admins.execute()).map(({ id }) => ({ license_id: license.id, user_id: id }));
      await tellOfLicenseEnd.enqueueEach(tx, inputs);
    }),
});
