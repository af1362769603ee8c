/** What a command finds when it is applied: the issue or epic as it is, with what the commands before it have asked for. */
import type { RawBuilder } from 'kysely';
import { levels, type NoteableKind, type PlacedNoteable, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller, Plan } from '../../../http/index.ts';
import type { LabelPlace } from '../../planning/labels/index.ts';
import type { CommandChanges, Operations } from './operations.ts';

/** Who changes something, and what holds for them. */
export interface Acting {
  caller: Caller;
  plan: Plan;
  /** Our external address without a trailing slash. */
  url: string;
}

/** A kind of thing that takes quick actions. Its own area, which this one does not know, says what they find and do. */
export interface Commandable {
  kind: NoteableKind;
  /** A statement with the one row of what a command finds. */
  state(id: number, user_id: number): RawBuilder<TargetState>;
  /** What can be done to it in the transaction of the commands. */
  operations(tx: Database, acting: Acting, on: PlacedNoteable): Operations;
}

/** What the commands are written on, and by whom. */
export interface CommandTarget extends Acting {
  on: PlacedNoteable;
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
  kind: NoteableKind['name'];
  labels_from: LabelPlace;
  before: TargetState;
  /** What the commands ask for until now. */
  changes: CommandChanges;
  commands_changes: Record<string, unknown>;
}

/** What a command needs: to see the target, to edit it as its author may, or to plan with it as Planners may. */
export type Right = 'read' | 'edit' | 'plan' | 'report';

/** Whether the caller has the right, as over the API (docs/reference/quick_actions.md). */
export function has({ kind, on: { access_level }, is_new, before }: Situation, right: Right): boolean {
  if (right === 'read') return true;
  if (right === 'report') return access_level >= levels.reporter;
  // Whoever creates an issue in a project of his decides on all of it.
  if (right === 'plan') return access_level >= (is_new && kind === 'issue' ? levels.guest : levels.planner);
  return access_level >= levels.planner || (kind === 'issue' && before.is_own);
}

/** What the first command finds. */
export async function situationOf(tx: Database, noun: Commandable, target: CommandTarget): Promise<Situation> {
  const { on, caller } = target;
  const { rows } = await noun.state(on.id, caller.id).execute(tx);
  return {
    ...target,
    ...{ tx, operations: noun.operations(tx, target, on), kind: on.kind.name, changes: {}, commands_changes: {} },
    labels_from: 'project' in on.in ? { project_id: on.in.project.id } : { group_id: on.in.group.id },
    before: rows[0]!,
  };
}

/** The project of the issue; only commands of issues ask. */
export function projectOf({ on }: Situation): Project {
  if ('project' in on.in) return on.in.project;
  throw new Error('an epic is in no project');
}
