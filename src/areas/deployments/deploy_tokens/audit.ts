/** What audit events say of deploy tokens. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

const either = (rest: string) => ({
  of: `case when it.project_id is not null then 'deploy_token_${rest}' else 'group_deploy_token_${rest}' end`,
  names: [`deploy_token_${rest}`, `group_deploy_token_${rest}`],
});

export const deployTokenAudit = auditedNoun({
  table: 'deploy_tokens',
  type: 'DeployToken',
  target: { details: 'it.name' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: either('created'),
  removed: either('revoked'),
});
