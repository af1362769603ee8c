/** What audit events say of groups that are invited to groups and projects. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

const either = (project: string, group: string) => ({
  of: `case when it.project_id is not null then '${project}' else '${group}' end`,
  names: [project, group],
});
const updated = either('project_group_link_updated', 'group_share_with_group_link_updated');

export const groupLinkAudit = auditedNoun({
  table: 'group_links',
  type: 'Group',
  target: { id: 'it.invited_group_id', details: '(select full_path from namespaces where id = it.invited_group_id)' },
  entity: { Project: 'it.project_id', Group: 'it.group_id' },
  added: either('project_group_link_created', 'group_share_with_group_link_created'),
  removed: either('project_group_link_deleted', 'group_share_with_group_link_removed'),
  members: { access_level: { event: updated }, expires_at: { event: updated } },
});
