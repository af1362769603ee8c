/** Types of nouns (issues, epics and merge requests), and of a change as needed for its effects. */
import type { Issuable, IssuableKind, MaybeCaller, OnIssuable, PlacedIssuable } from '../../../access/index.ts';
import type { Changed } from '../../../fields/index.ts';
import type { Access, Services } from '../../../http/index.ts';
import type { Recorded } from '../../activity/events/index.ts';
import type { HookItem } from '../../activity/hooks/index.ts';
import type { TodoTarget } from '../../activity/todos/index.ts';
import type { Discussable, Mailed } from '../../conversation/notes/index.ts';
import type { EventSubject } from '../../conversation/resource_events/index.ts';

/** All facets that a noun can have (docs/adding_a_noun.md). An engine reads the facets that it needs. */
export interface Noun
  extends Discussable,
    Partial<Recorded>,
    Partial<TodoTarget>,
    Partial<Mailed>,
    Partial<EventSubject> {
  kind: IssuableKind;
  hook?: HookItem<IssuableKind>;
  /** The reply of an operation on it, with `subscribed`. */
  presentSingle?(services: Pick<Services, 'db' | 'url'>, caller: MaybeCaller, on: PlacedIssuable): Promise<unknown>;
  /** Grants an item to callers who may track its time. */
  tracker?: Access<OnIssuable>;
}

/** A noun with these facets. */
export type NounWith<Facet extends keyof Noun> = Required<Pick<Noun, 'kind' | Facet>>;

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
  /** System notes for changes that only this noun supports. */
  words?: readonly string[];
  /** The changes of fields in webhooks. */
  also?: Readonly<Record<string, Changed>>;
  /** Whether it was just created; then title, description and labels are not changes. */
  is_new: boolean;
  /** ISO 8601; defaults to now. */
  at: string | undefined;
}
