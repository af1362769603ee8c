import type { Definition } from '../definition.ts';

/** Whether an invitation mail describes the group or project, or only links to it. */
export const invitation_mail_preview = {
  name: 'invitation_mail_preview',
  introduced_by_url: 'docs/decisions/0023-experiments-are-files-with-gates.md',
  rollout_issue_url: 'docs/operating.md#experiments',
  milestone: '0.1',
  type: 'experiment',
  group: 'group::people',
  default_enabled: false,
} as const satisfies Definition;
