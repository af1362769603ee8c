/** Keeping the partitions of audit events. */
import { job } from '../../../jobs/index.ts';
import { addPartitions, dropOldPartitions } from './partition_actions.ts';

/** Runs every hour, so that the partitions of the coming months exist soon after a long downtime. */
export const keepAuditPartitions = job('keep_audit_partitions', {
  input: {},
  retries: 10,
  schedule: '40 * * * *',
  async run({ db, log }) {
    await addPartitions(db);
    const dropped = await dropOldPartitions(db);
    if (dropped > 0) log.info({ dropped }, 'dropped the audit events of old months');
  },
});
