/** The nouns with audit events (docs/reference/audit_events.md#events). */
import { protectedBranchAudit } from './code/protected_branches/index.ts';
import type { AuditedNoun } from './instance/audit_events/index.ts';

export const auditedNouns: readonly AuditedNoun[] = [protectedBranchAudit];
