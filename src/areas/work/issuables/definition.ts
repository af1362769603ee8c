/** A change to an issue, an epic or a merge request, as its effects need it. */
import type { Issuable } from '../../../access/index.ts';

/** The fields whose changes have effects. A kind omits those that it does not have. */
export interface IssuableState {
  title: string;
  description: string | null;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  confidential?: boolean;
  label_ids: readonly number[];
  issue_type?: string;
  discussion_locked?: boolean | null;
  start_date?: string | null;
  due_date?: string | null;
  weight?: number | null;
  milestone_id?: number | null;
  iteration_id?: number | null;
  severity?: string;
  assignee_ids?: readonly number[];
  reviewer_ids?: readonly number[];
}

export interface Change {
  on: Issuable;
  /** Null for an item outside projects. */
  project_id: number | null;
  from: IssuableState;
  to: IssuableState;
  /** System notes of changes that only its noun has. */
  words?: readonly string[];
  /** Further changes, or others in the place of those of the same name, as hooks show them. */
  also?: Readonly<Record<string, { previous: unknown; current: unknown }>>;
  /** Whether it was just created: then title, description and labels are not changes. */
  is_new: boolean;
  /** ISO 8601; now by default. */
  at: string | undefined;
}
