/** Issues as a noun: its description for the engines of comments, events, webhooks, mail and to-do items (docs/adding_a_noun.md). */
import { sql } from 'kysely';
import { issueKind, issueTracker, projectOf } from '../../../access/index.ts';
import { issuableTarget } from '../../activity/events/index.ts';
import {
  assigneeCommands,
  commonCommands,
  confidentialityCommands,
  dueDateCommands,
  healthCommands,
  incidentCommands,
  inEpicCommands,
  iterationCommands,
  labelCommands,
  linkCommands,
  lockCommands,
  metadataCommands,
  milestoneCommands,
  placeCommands,
  promotionCommands,
  timeCommands,
  weightCommands,
} from '../../conversation/quick_actions/index.ts';
import type { Noun } from '../issuables/definition.ts';
import { issueHook } from '../issuables/hooks/issue_present.ts';
import { branchCommands } from './branch_commands.ts';
import { issueOperations } from './command_actions.ts';
import { issueMail } from './mail_queries.ts';
import { Issue, presentIssues, presentSingleIssue } from './present.ts';

export const issueNoun = {
  kind: issueKind,
  hook: issueHook,
  mail: issueMail,
  event: issuableTarget(issueKind, ['Issue', 'WorkItem']),
  tracker: issueTracker,
  schema: Issue,
  present: presentIssues,
  presentSingle: (services, caller, on) =>
    presentSingleIssue(services, caller, { id: on.id, project_id: projectOf(on.in).id }),
  events: ['label', 'state', 'milestone', 'weight', 'iteration'],
  quickActions: {
    commands: [
      ...commonCommands,
      ...confidentialityCommands,
      ...lockCommands,
      ...labelCommands,
      ...assigneeCommands,
      ...milestoneCommands,
      ...iterationCommands,
      ...dueDateCommands,
      ...timeCommands,
      ...weightCommands,
      ...healthCommands,
      ...incidentCommands,
      ...linkCommands,
      ...placeCommands,
      ...metadataCommands,
      ...promotionCommands,
      ...inEpicCommands,
      ...branchCommands,
    ],
    operations: issueOperations,
    state: (issue_id, user_id) => sql`
  select state, confidential, discussion_locked, issue_type, due_date, weight, health_status, time_estimate_s, total_time_spent_s, milestone_id, iteration_id,
         (select epic_id from epic_issues where issue_id = issues.id) as parent_id,
         array(select user_id from issue_assignees where issue_id = issues.id)::bigint[] as assignee_ids,
         coalesce(author_id = ${user_id}, false) or exists (select from issue_assignees where issue_id = issues.id and user_id = ${user_id}) as is_own
    from issues where id = ${issue_id}`,
  },
} satisfies Noun;
