/** What a command finds when it is applied: the issue or epic as it is, with what the commands before it have asked for. */
import { sql } from 'kysely';
import { type Group, levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller, Plan } from '../../../http/index.ts';
import type { LabelPlace } from '../../planning/labels/index.ts';
import type { CommandChanges, Operations } from './operations.ts';

/** What the commands are written on, and by whom. */
export interface CommandTarget {
  caller: Caller;
  plan: Plan;
  /** Our external address without a trailing slash. */
  url: string;
  /** The issue in a project, or the epic in a group, each with the caller's level there. */
  on: { project: Project; issue_id: number } | { group: Group; epic_id: number };
  /** Whether it is being created with this text: then there is nothing to close or to be reminded of. */
  is_new: boolean;
}

/** An issue or epic; what only issues have is empty for an epic. */
export interface TargetState {
  state: 'opened' | 'closed';
  confidential: boolean;
  discussion_locked: boolean | null;
  issue_type: string;
  due_date: string | null;
  weight: number | null;
  health_status: string | null;
  time_estimate_s: number;
  total_time_spent_s: number;
  milestone_id: number | null;
  iteration_id: number | null;
  /** The epic that it is in, or below. */
  parent_id: number | null;
  assignee_ids: number[];
  labels: { id: number; title: string }[];
  /** Whether the caller is its author or one of its assignees. */
  is_own: boolean;
}

export interface Situation extends CommandTarget {
  tx: Database;
  operations: Operations;
  kind: 'issue' | 'epic';
  /** The caller's level in the project or group. */
  access_level: number;
  noteable: { issue_id: number } | { epic_id: number };
  labels_from: LabelPlace;
  before: TargetState;
  /** What the commands ask for until now. */
  changes: CommandChanges;
  commands_changes: Record<string, unknown>;
}

/** What a command needs: to see the target, to edit it as its author may, or to plan with it as Planners may. */
export type Right = 'read' | 'edit' | 'plan' | 'report';

/** Whether the caller has the right, as over the API (issues.md section 2). */
export function has({ kind, access_level, is_new, before }: Situation, right: Right): boolean {
  if (right === 'read') return true;
  if (right === 'report') return access_level >= levels.reporter;
  // Whoever creates an issue in a project of his decides on all of it.
  if (right === 'plan') return access_level >= (is_new && kind === 'issue' ? levels.guest : levels.planner);
  return access_level >= levels.planner || (kind === 'issue' && before.is_own);
}

const issueState = (issue_id: number, user_id: number) => sql<TargetState>`
  select state, confidential, discussion_locked, issue_type, due_date, weight, health_status, time_estimate_s, total_time_spent_s, milestone_id, iteration_id,
         (select epic_id from epic_issues where issue_id = issues.id) as parent_id,
         array(select user_id from issue_assignees where issue_id = issues.id)::bigint[] as assignee_ids,
         coalesce((select jsonb_agg(jsonb_build_object('id', id, 'title', title)) from issue_labels join labels on labels.id = label_id
                    where issue_id = issues.id), '[]') as labels,
         coalesce(author_id = ${user_id}, false) or exists (select from issue_assignees where issue_id = issues.id and user_id = ${user_id}) as is_own
    from issues where id = ${issue_id}`;

const epicState = (epic_id: number, user_id: number) => sql<TargetState>`
  select state, confidential, null::boolean as discussion_locked, 'epic' as issue_type, null::date as due_date, null::integer as weight,
         null as health_status, 0 as time_estimate_s, 0 as total_time_spent_s, null::bigint as milestone_id, null::bigint as iteration_id, parent_id,
         array[]::bigint[] as assignee_ids,
         coalesce((select jsonb_agg(jsonb_build_object('id', id, 'title', title)) from epic_labels join labels on labels.id = label_id
                    where epic_id = epics.id), '[]') as labels,
         coalesce(author_id = ${user_id}, false) as is_own
    from epics where id = ${epic_id}`;

/** What the first command finds. */
export async function situationOf(tx: Database, target: CommandTarget, operations: Operations): Promise<Situation> {
  const { on, caller } = target;
  const isIssue = 'issue_id' in on;
  const { rows } = await (isIssue ? issueState(on.issue_id, caller.id) : epicState(on.epic_id, caller.id)).execute(tx);
  return {
    ...target,
    ...{ tx, operations, kind: isIssue ? 'issue' : 'epic', changes: {}, commands_changes: {} },
    access_level: isIssue ? on.project.access_level : on.group.access_level,
    noteable: isIssue ? { issue_id: on.issue_id } : { epic_id: on.epic_id },
    labels_from: isIssue ? { project_id: on.project.id } : { group_id: on.group.id },
    before: rows[0]!,
  };
}

/** The project of the issue; only commands of issues ask. */
export function projectOf({ on }: Situation): Project {
  if ('project' in on) return on.project;
  throw new Error('an epic is in no project');
}
