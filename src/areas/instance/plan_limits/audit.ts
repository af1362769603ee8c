/** What audit events say of the limits of plans. */
import { auditedNoun } from '../audit_events/definition.ts';

export const planLimitAudit = auditedNoun({
  table: 'plan_limits',
  type: 'PlanLimits',
  target: { details: "'Plan limits'" },
  entity: {},
  members: { limits: { event: 'plan_limits_updated' } },
});
