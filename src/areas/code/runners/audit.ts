/** What audit events say of runners. One of projects is said of the project that it belongs to. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

const members = [
  'description',
  'paused',
  'locked',
  'run_untagged',
  'tag_list',
  'access_level',
  'maximum_timeout',
  'token_expires_at',
] as const;
const project = '(select project_id from runner_projects where runner_id = it.id and is_owner)';
const names = ['ci_runner_registered', 'ci_runner_created'];

export const runnerAudit = auditedNoun({
  table: 'runners',
  type: 'Ci::Runner',
  target: { details: 'it.description' },
  entity: { Project: project, Group: 'it.namespace_id' },
  added: {
    of: "case when it.runner_type = 'project_type' then null when it.is_registered then 'ci_runner_registered' else 'ci_runner_created' end",
    names,
  },
  removed: 'ci_runner_unregistered',
  members: {
    ...eachMember(members, () => ({ event: 'ci_runner_updated' })),
    maintenance_note: { event: 'ci_runner_updated', says: 'nothing' },
    token_digest: { event: 'ci_runner_token_reset', as: 'token', says: 'nothing' },
  },
});
