/** What audit events say of the settings of the server. */
import { auditedNoun } from '../audit_events/definition.ts';

export const settingAudit = auditedNoun({
  table: 'application_settings',
  type: 'ApplicationSetting',
  target: { details: "'Application settings'" },
  entity: {},
  members: {
    runner_registration_version: { event: 'ci_runner_token_reset', as: 'registration token', says: 'nothing' },
  },
  rest: {
    event: 'application_setting_updated',
    but: ['id', 'counts_requests', 'archive_builds_seconds', 'created_at', 'updated_at'],
    silent: ['rate_limiting_response_text'],
  },
});
