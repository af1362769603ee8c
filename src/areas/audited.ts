/** The nouns with audit events (docs/reference/audit_events.md#events). */
import { protectedBranchAudit } from './code/protected_branches/index.ts';
import type { AuditedNoun } from './instance/audit_events/index.ts';
import { applicationAudit } from './people/applications/audit.ts';
import { consentAudit } from './people/oauth_grants/audit.ts';

export const auditedNouns: readonly AuditedNoun[] = [protectedBranchAudit, applicationAudit, consentAudit];
