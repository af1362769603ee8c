/** What a command is, what it is given, and what a noun that takes commands says of itself. */
import type { RawBuilder } from 'kysely';
import type { NoteableKind, PlacedNoteable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller, Plan } from '../../../http/index.ts';
import type { LabelPlace } from '../../planning/labels/index.ts';

/** The message of an applied command; undefined if it cannot be applied. */
export type Said = string | undefined;

/** The message of an edit, or deferred work that runs after the edits and returns its message. */
export type Outcome = Said | (() => Promise<Said>);

export interface Definition {
  /** Messages use the first. */
  names: readonly [string, ...string[]];
  needs: Right;
  plan?: Plan;
  /** Whether it does not apply to an item that is being created. */
  existing?: true;
  /**
   * Requests an edit through `changes` and `commands_changes`, or returns other work.
   * @param argument the rest of the line
   */
  apply(situation: Situation, argument: string): Outcome | Promise<Outcome>;
}

/** Who changes something, and what holds for them. */
export interface Acting {
  caller: Caller;
  plan: Plan;
  /** Our external address without a trailing slash. */
  url: string;
}

/** A noun that takes quick actions. Its own area, which this one does not know, says which ones, and what they find and do. */
export interface Commandable {
  kind: NoteableKind;
  /** The commands that work on it: some of those that this area has, and its own. */
  commands: readonly Definition[];
  /** A statement with the one row of what a command finds, without the labels. */
  state(id: number, user_id: number): RawBuilder<Found>;
  /** What can be done to it in the transaction of the commands. */
  operations(tx: Database, acting: Acting, on: PlacedNoteable): Operations;
}

/** The target of the commands, and their author. */
export interface CommandTarget extends Acting {
  on: PlacedNoteable;
  /** Whether it is being created with this text: then there is nothing to close or to be reminded of. */
  is_new: boolean;
}

/** What a command finds; what the noun does not have is blank. */
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
  /** Whether the caller may edit it whatever their role, as authors and assignees of an issue may. */
  is_own: boolean;
}

/** What every noun has, and what it has of the rest. */
type Found = Pick<TargetState, 'state' | 'confidential'> & Partial<Omit<TargetState, 'labels'>>;

export interface Situation extends CommandTarget {
  tx: Database;
  noun: Commandable;
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

/** What commands change like an edit over the API does: parameters of its PUT, with their names and meanings. All of them are the caller's to change. */
export interface CommandChanges {
  title?: string;
  state_event?: 'close' | 'reopen';
  /** Titles of labels that there are. */
  labels?: string[];
  add_labels?: string[];
  remove_labels?: string[];
  /** All who are assigned afterwards. */
  assignee_ids?: number[];
  milestone_id?: number | null;
  iteration_id?: number | null;
  /** `YYYY-MM-DD` */
  due_date?: string | null;
  confidential?: boolean;
  discussion_locked?: boolean;
  weight?: number | null;
  health_status?: 'on_track' | 'needs_attention' | 'at_risk' | null;
  issue_type?: 'incident';
  severity?: 'UNKNOWN' | 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';
  epic_id?: number | null;
  /** Of an epic. */
  parent_id?: number | null;
}

export interface TimeSpent {
  /** As it is written, e.g. `-1h 30m`. */
  duration: string;
  /** `YYYY-MM-DD`; now where it is left out. */
  spent_on?: string | undefined;
}

/**
 * What can be done to the target, each in the transaction of the commands. Without a function the command is one that the target does not know. Those that answer say
 * with `undefined` or `false` that it cannot be done, and have changed nothing then; they check the rights that need more than a look at the target itself.
 */
export interface Operations {
  /** Edits it, with all notes and events of an edit. */
  update(changes: CommandChanges): Promise<void>;
  subscribe?(subscribed: boolean): Promise<void>;
  /** Gives or takes back a reaction of the caller. */
  toggleAward?(name: string): Promise<boolean>;
  /** @returns seconds, undefined for what is no span of time */
  setTimeEstimate?(duration: string | null): Promise<number | undefined>;
  /** @returns seconds, below zero for what was taken back; undefined for what is no span of time, or more than was spent */
  addTimeSpent?(spent: TimeSpent): Promise<number | undefined>;
  resetTimeSpent?(): Promise<void>;
  link?(issue_ids: readonly number[], type: 'relates_to' | 'blocks' | 'is_blocked_by'): Promise<boolean>;
  unlink?(issue_id: number): Promise<boolean>;
  markDuplicate?(canonical_issue_id: number): Promise<boolean>;
  move?(project_id: number): Promise<boolean>;
  clone?(project_id: number, options: { with_notes: boolean }): Promise<boolean>;
  promoteToEpic?(): Promise<boolean>;
  /** Puts another epic below this one, or takes it away from here. */
  setChild?(epic_id: number, isChild: boolean): Promise<boolean>;
}
