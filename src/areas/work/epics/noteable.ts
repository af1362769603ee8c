/** Epics as what is discussed, reacted to, subscribed to and put on to-do lists: all that the machinery of these asks of them. */
import { sql } from 'kysely';
import { epicKind, groupOf } from '../../../access/index.ts';
import type { TodoTarget } from '../../activity/todos/index.ts';
import type { Commandable, TargetState } from '../../conversation/quick_actions/index.ts';
import type { EventSubject } from '../../conversation/resource_events/index.ts';
import type { Followable } from '../issuables/index.ts';
import { epicOperations } from './command_actions.ts';
import { Epic, presentEpics, presentSingleEpic } from './present.ts';

export const epicNoun: Commandable & TodoTarget & EventSubject & Followable = {
  kind: epicKind,
  schema: Epic,
  present: presentEpics,
  todo_plan: 'premium',
  presentSingle: (services, caller, on) => presentSingleEpic(services, caller, { id: on.id, group_id: groupOf(on.in).id }),
  events: ['label', 'state'],
  events_plan: 'premium',
  operations: epicOperations,
  state: (epic_id, user_id) => sql<TargetState>`
  select state, confidential, null::boolean as discussion_locked, 'epic' as issue_type, null::date as due_date, null::integer as weight,
         null as health_status, 0 as time_estimate_s, 0 as total_time_spent_s, null::bigint as milestone_id, null::bigint as iteration_id, parent_id,
         array[]::bigint[] as assignee_ids,
         coalesce((select jsonb_agg(jsonb_build_object('id', id, 'title', title)) from epic_labels join labels on labels.id = label_id
                    where epic_id = epics.id), '[]') as labels,
         coalesce(author_id = ${user_id}, false) as is_own
    from epics where id = ${epic_id}`,
};
