/** What audit events say of whom the tokens of jobs let in. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const jobTokenProjectAudit = auditedNoun({
  table: 'job_token_projects',
  type: 'Project',
  target: { id: 'it.allowed_id', details: '(select full_path from projects where id = it.allowed_id)' },
  entity: { Project: 'it.project_id' },
  added: 'secure_ci_job_token_project_added',
  removed: 'secure_ci_job_token_project_removed',
});

export const jobTokenGroupAudit = auditedNoun({
  table: 'job_token_groups',
  type: 'Group',
  target: { id: 'it.group_id', details: '(select full_path from namespaces where id = it.group_id)' },
  entity: { Project: 'it.project_id' },
  added: 'secure_ci_job_token_group_added',
  removed: 'secure_ci_job_token_group_removed',
});
