/** What quick actions do to the issue or epic that they are written on: functions of its own area, which this one therefore need not know. */

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
