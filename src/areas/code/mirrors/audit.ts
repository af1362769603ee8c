/** What audit events say of mirrors: of addresses the host alone, since the rest may open what it names. */
import { auditedNoun, eachMember } from '../../instance/audit_events/index.ts';

const host = "(regexp_match(it.url, '^[^:]+://(?:[^/?#]*@)?([^/?#]+)'))[1]";
const names = { added: 'mirror_created', removed: 'mirror_deleted' };
const updated = () => ({ event: 'mirror_updated' });
const silent = () => ({ event: 'mirror_updated', says: 'nothing' as const });

export const pushMirrorAudit = auditedNoun({
  ...names,
  table: 'remote_mirrors',
  type: 'RemoteMirror',
  target: { details: host },
  entity: { Project: 'it.project_id' },
  members: {
    ...eachMember(
      ['enabled', 'auth_method', 'only_protected_branches', 'mirror_branch_regex', 'keep_divergent_refs'],
      updated,
    ),
    ...eachMember(['url', 'login', 'host_keys'], silent),
  },
});

export const pullMirrorAudit = auditedNoun({
  ...names,
  table: 'pull_mirrors',
  type: 'PullMirror',
  target: { details: host },
  entity: { Project: 'it.project_id' },
  members: {
    ...eachMember(
      [
        'enabled',
        'user_id',
        'mirror_trigger_builds',
        'only_mirror_protected_branches',
        'mirror_overwrites_diverged_branches',
        'mirror_branch_regex',
      ],
      updated,
    ),
    ...eachMember(['url', 'login', 'host_keys'], silent),
  },
});
