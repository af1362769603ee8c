/** What audit events say of compliance frameworks. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

export const complianceFrameworkAudit = auditedNoun({
  table: 'compliance_frameworks',
  type: 'ComplianceManagement::Framework',
  target: { details: 'it.name' },
  entity: { Group: 'it.group_id' },
  added: 'create_compliance_framework',
  removed: 'destroy_compliance_framework',
  members: eachMember(['name', 'description', 'color', 'is_default'], () => ({ event: 'update_compliance_framework' })),
});

export const projectFrameworkAudit = auditedNoun({
  table: 'project_compliance_frameworks',
  type: 'ComplianceManagement::Framework',
  target: { id: 'it.framework_id', details: '(select name from compliance_frameworks where id = it.framework_id)' },
  entity: { Project: 'it.project_id' },
  added: 'compliance_framework_added',
  removed: 'compliance_framework_removed',
});

const framework = (column: string) => `(select ${column} from compliance_frameworks where id = it.framework_id)`;

export const requirementAudit = auditedNoun({
  table: 'compliance_requirements',
  type: 'ComplianceManagement::ComplianceFramework::ComplianceRequirement',
  // The requirements that a framework begins or ends with are a part of that.
  only_if: `${framework('created_at')} < now()`,
  target: { details: 'it.name' },
  entity: { Group: framework('group_id') },
  added: 'created_compliance_requirement',
  removed: 'destroyed_compliance_requirement',
});
