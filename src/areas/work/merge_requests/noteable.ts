/** Merge requests as a noun: its description for the engines of comments, events, webhooks, mail and to-do items (docs/adding_a_noun.md). */
import { sql } from 'kysely';
import { mayUpdateMergeRequest, mergeRequestKind, mergeRequestTracker, projectOf } from '../../../access/index.ts';
import { issuableTarget } from '../../activity/events/index.ts';
import {
  assigneeCommands,
  commonCommands,
  labelCommands,
  lockCommands,
  metadataCommands,
  milestoneCommands,
  type Operations,
  timeCommands,
} from '../../conversation/quick_actions/index.ts';
import type { Noun } from '../issuables/definition.ts';
import { mergeRequestHook } from '../issuables/hooks/merge_request_present.ts';
import { issuableMail } from '../issuables/mail_queries.ts';
import { mergeRequestOperations } from './command_actions.ts';
import { branchCommands, draftCommands, mergeCommands, reviewerCommands } from './commands.ts';
import { mayResolveThreads, mergeWithoutThreads } from './merging/thread_actions.ts';
import { MergeRequest, presentMergeRequests, presentSingleMergeRequest } from './present.ts';
import { followFromOldVersion } from './versions/follow_jobs.ts';
import { positionOn } from './versions/position_git.ts';

export const mergeRequestNoun = {
  kind: mergeRequestKind,
  hook: mergeRequestHook,
  mail: issuableMail(mergeRequestKind),
  event: issuableTarget(mergeRequestKind, ['MergeRequest']),
  tracker: mergeRequestTracker,
  schema: MergeRequest,
  present: presentMergeRequests,
  presentSingle: (services, caller, on) => presentSingleMergeRequest(services, caller, projectOf(on.in), on.id),
  events: ['label', 'state', 'milestone'],
  diff: { position: positionOn, afterPlaced: followFromOldVersion, has_commits: true },
  threads: { mayResolve: mayResolveThreads, afterLastThread: mergeWithoutThreads },
  quickActions: {
    commands: [
      ...commonCommands,
      ...lockCommands,
      ...labelCommands,
      ...assigneeCommands,
      ...reviewerCommands,
      ...milestoneCommands,
      ...timeCommands,
      ...metadataCommands,
      ...draftCommands,
      ...branchCommands,
      ...mergeCommands,
    ],
    operations: (tx, acting, on): Operations => mergeRequestOperations(tx, acting, on, mergeRequestNoun),
    holds: mayUpdateMergeRequest,
    state: (id, user_id) => sql`
  select state, title, discussion_locked, time_estimate_s, total_time_spent_s, milestone_id,
         array(select merge_request_assignees.user_id from merge_request_assignees where merge_request_id = merge_requests.id)::bigint[] as assignee_ids,
         array(select merge_request_reviewers.user_id from merge_request_reviewers where merge_request_id = merge_requests.id)::bigint[] as reviewer_ids,
         coalesce(author_id = ${user_id}, false)
           or exists (select from merge_request_assignees assigned where assigned.merge_request_id = merge_requests.id and assigned.user_id = ${user_id}) as is_own
    from merge_requests where id = ${id}`,
  },
} satisfies Noun;
