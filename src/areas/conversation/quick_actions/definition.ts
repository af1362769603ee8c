/** The definition of a command, its arguments, and the description of a noun with commands. */
import type { RawBuilder } from 'kysely';
import type { IssuableKind, PlacedIssuable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller, Plan, Services } from '../../../http/index.ts';
import type { LabelParent } from '../../planning/labels/index.ts';

/** The message of an applied command; undefined if it cannot be applied. */
export type Said = string | undefined;

/** The message of an edit, or deferred work that runs after the edits and returns its message. */
export type Outcome = Said | (() => Promise<Said>);

export interface Definition {
  /** The names of the command; messages use the first. */
  names: readonly [string, ...string[]];
  needs: Right;
  plan?: Plan;
  /** Whether the command does not apply to an item that is being created. */
  existing?: true;
  /**
   * Requests an edit through `changes` and `commands_changes`, or returns other work.
   * @param argument the rest of the line
   */
  apply(situation: Situation, argument: string): Outcome | Promise<Outcome>;
}

/** The caller with their rights, and the services that changes need. */
export interface Acting extends Pick<Services, 'storages'> {
  caller: Caller;
  plan: Plan;
  /** Our external address without a trailing slash. */
  url: string;
}

/**
 * The quick actions of a noun. Its own area, which this one does not import, selects them, and provides its state and
 * operations.
 */
export interface QuickActions {
  /** Commands of this area, and the noun's own ones. */
  commands: readonly Definition[];
  /** A statement that reads the state of the target as one row, without the labels. */
  state(id: number, user_id: number): RawBuilder<Found>;
  /** The operations on it in the transaction of the commands. */
  operations(tx: Database, acting: Acting, on: PlacedIssuable): Operations;
  /** Whether the caller has a right besides reading; if omitted, Planners have all rights, as for issues and epics. */
  holds?(who: { access_level: number; is_own: boolean }): boolean;
}

/** The target of the commands, and their author. */
export interface CommandTarget extends Acting {
  on: PlacedIssuable;
  /** Whether it is being created with this text: then some commands, such as `/close`, make no sense. */
  is_new: boolean;
}

/** The state of the target; fields that the noun does not have are blank. */
export interface TargetState {
  state: 'opened' | 'closed' | 'merged' | 'locked';
  title: string;
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
  /** The id of its epic, or of its parent epic. */
  parent_id: number | null;
  assignee_ids: number[];
  reviewer_ids: number[];
  labels: { id: number; title: string }[];
  /** Whether the caller may edit it regardless of their role, as authors and assignees of an issue may. */
  is_own: boolean;
}

/** The fields that every noun has, and optionally others. */
type Found = Pick<TargetState, 'state'> & Partial<Omit<TargetState, 'labels'>>;

export interface Situation extends CommandTarget {
  tx: Database;
  quickActions: QuickActions;
  operations: Operations;
  kind: IssuableKind['name'];
  labels_from: LabelParent;
  before: TargetState;
  /** The changes requested by the commands so far. */
  changes: CommandChanges;
  commands_changes: Record<string, unknown>;
}

/** The right that a command needs: to read the target, to edit it like its author, or to plan it like Planners. */
export type Right = 'read' | 'edit' | 'plan' | 'report';

/** The edits that commands make: the parameters of the PUT endpoint, with the same meaning. The caller may make all of them. */
export interface CommandChanges {
  title?: string;
  state_event?: 'close' | 'reopen';
  /** Titles of existing labels. */
  labels?: string[];
  add_labels?: string[];
  remove_labels?: string[];
  /** All assignees after the change. */
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
  /** The id of an epic's parent. */
  parent_id?: number | null;
  /** The reviewers of a merge request after the change, and the ones among them whose review is requested again. */
  reviewer_ids?: number[];
  review_again_ids?: number[];
  target_branch?: string;
}

export interface TimeSpent {
  /** As written, e.g. `-1h 30m`. */
  duration: string;
  /** `YYYY-MM-DD`; today by default. */
  spent_on?: string | undefined;
}

/**
 * The operations on the target, each in the transaction of the commands. If one is missing, the target does not support the command. A result of
 * `undefined` or `false` means that it was not possible and nothing changed; operations check rights that depend on more than the target itself.
 */
export interface Operations {
  /** Edits it, with all notes and events of an edit. */
  update(changes: CommandChanges): Promise<void>;
  subscribe?(subscribed: boolean): Promise<void>;
  /** Adds or removes a reaction of the caller. */
  toggleAward?(name: string): Promise<boolean>;
  /** @returns seconds, undefined for an invalid duration */
  setTimeEstimate?(duration: string | null): Promise<number | undefined>;
  /**
   * @returns seconds, negative if time was subtracted; undefined for an invalid duration, or one that subtracts more
   * than was spent
   */
  addTimeSpent?(spent: TimeSpent): Promise<number | undefined>;
  resetTimeSpent?(): Promise<void>;
  link?(issue_ids: readonly number[], type: 'relates_to' | 'blocks' | 'is_blocked_by'): Promise<boolean>;
  unlink?(issue_id: number): Promise<boolean>;
  markDuplicate?(canonical_issue_id: number): Promise<boolean>;
  move?(project_id: number): Promise<boolean>;
  clone?(project_id: number, options: { with_notes: boolean }): Promise<boolean>;
  promoteToEpic?(): Promise<boolean>;
  /**
   * For an issue: creates a branch, by default named after the issue, and a merge request that closes it, in the
   * background.
   */
  createMergeRequest?(branch: string): Promise<boolean>;
  /** For a merge request: approves it, or revokes the caller's approval. */
  approve?(approves: boolean): Promise<boolean>;
  /** Requests changes, as a reviewer. */
  requestChanges?(): Promise<boolean>;
  /** Publishes the caller's draft notes, all or none, with their verdict as a reviewer. */
  submitReview?(state: 'reviewed' | 'requested_changes' | undefined): Promise<boolean>;
  /** Merges it in the background, once it can be merged. */
  merge?(): Promise<boolean>;
  /** Starts to rebase its source branch in the background. */
  rebase?(): Promise<boolean>;
  /** Adds or removes another epic as a child. */
  setChild?(epic_id: number, isChild: boolean): Promise<boolean>;
}
