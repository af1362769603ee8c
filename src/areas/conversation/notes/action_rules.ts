/** The names that other servers give to the actions in system notes (docs/reference/relations_export.md#notes). */
import { type RawBuilder, sql } from 'kysely';

/** The first matching expression determines the action of a text. */
const actions: readonly (readonly [action: string, expression: string])[] = [
  ['commit', '^added (more than )?\\d{1,9} commits?\\M'],
  ['title', '^changed title from |^marked this merge request as \\*\\*(draft|ready)'],
  ['description', '^changed the description'],
  ['task', '^marked the checklist item '],
  ['confidential', '^made the (issue|epic) confidential'],
  ['visible', '^made the (issue|epic) visible '],
  ['locked', '^locked the discussion '],
  ['unlocked', '^unlocked the discussion '],
  ['assignee', '^(un)?assigned '],
  ['reviewer', '^requested review from |^removed review request '],
  ['requested_changes', '^requested changes'],
  ['reviewed', '^left review comments'],
  ['approved', '^approved '],
  ['unapproved', '^unapproved |^reset approvals '],
  ['branch', '^changed target branch |^(deleted|restored) source branch '],
  ['merge', '^(enabled|canceled|aborted) (an|the) automatic merge '],
  ['start_date_or_due_date', '^(changed|removed) (due|start) date'],
  ['issue_type', '^changed type from '],
  ['severity', '^changed the severity '],
  ['time_tracking', ' time (estimate|spent)\\M'],
  ['discussion', '^resolved all threads'],
  ['duplicate', '^marked (this issue|\\S+) as a duplicate '],
  ['relate', '^marked this \\w+ as (related|blocking|blocked)'],
  ['unrelate', '^removed the relation '],
  ['moved', '^moved (to|from) '],
  ['cloned', '^cloned (to|from) '],
  ['epic_promoted', '^promoted (to|from) '],
  ['relate_to_parent', ' as parent epic$'],
  ['unrelate_from_parent', '^removed parent epic '],
  ['relate_to_child', ' as child epic$'],
  ['unrelate_from_child', '^removed child epic '],
  ['epic_issue_moved', '^moved issue '],
  ['epic_issue_added', '^added issue '],
  ['epic_issue_removed', '^removed issue '],
  ['issue_added_to_epic', '^added to epic '],
  ['issue_changed_epic', '^changed epic to '],
  ['issue_removed_from_epic', '^removed from epic '],
  ['cross_reference', '^mentioned in '],
];

const action = sql`case ${sql.join(
  actions.map(([name, expression]) => sql`when notes.body ~ ${sql.lit(expression)} then ${sql.lit(name)}`),
  sql` `,
)} end`;

/**
 * The metadata of a system note as JSON: the action, and for commits their number; null for comments, and for
 * unrecognized texts from other servers.
 */
export const metadataOfNote: RawBuilder<unknown> = sql`(
  select json_build_object('action', told.action,
           'commit_count', case when told.action = 'commit' then substring(notes.body from '\\d{1,9}')::bigint end)
    from (select ${action} as action where notes.system) told where told.action is not null)`;
