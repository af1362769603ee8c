/** What audit events say of tokens: those of people and, by their bots, those of projects and groups. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

const place = (column: string) => `(select ${column} from access_token_bots where user_id = it.user_id)`;

const nameOf = (person: string, rest: string) => ({
  of: `case when ${place('project_id')} is not null then 'project_access_token_${rest}'
    when ${place('group_id')} is not null then 'group_access_token_${rest}' else 'personal_access_token_${person}' end`,
  names: [`project_access_token_${rest}`, `group_access_token_${rest}`, `personal_access_token_${person}`],
});

const [created, rotated] = [nameOf('created', 'created'), nameOf('rotated', 'rotated')];

export const tokenAudit = auditedNoun({
  table: 'personal_access_tokens',
  type: 'PersonalAccessToken',
  target: { details: 'it.name' },
  entity: { Project: place('project_id'), Group: place('group_id'), User: 'it.user_id' },
  added: {
    of: `case when it.family_id is null then ${created.of} else ${rotated.of} end`,
    names: [...created.names, ...rotated.names],
  },
  members: { revoked: { event: nameOf('revoked', 'deleted'), says: 'remove' } },
});
