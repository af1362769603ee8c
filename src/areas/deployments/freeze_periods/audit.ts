/** What audit events say of freeze periods. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

export const freezePeriodAudit = auditedNoun({
  table: 'freeze_periods',
  type: 'Ci::FreezePeriod',
  target: { details: "it.freeze_start || ' to ' || it.freeze_end" },
  entity: { Project: 'it.project_id' },
  added: 'freeze_period_created',
  removed: 'freeze_period_deleted',
  members: eachMember(['freeze_start', 'freeze_end', 'cron_timezone'], () => ({ event: 'freeze_period_updated' })),
});
