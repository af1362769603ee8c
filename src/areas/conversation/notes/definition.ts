/** The description that a noun provides for comments on it (docs/adding_a_noun.md). */
import type { Granted, Issuable, Noteable, NoteableKind, OnIssuable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { HookItem } from '../../activity/hooks/index.ts';
import type { QuickActions } from '../quick_actions/definition.ts';
import type { GivenPosition, Position } from './position_rules.ts';

/** A noun that can be discussed. */
export interface Discussable {
  kind: NoteableKind;
  /** How webhooks show comments and reactions. If omitted, these trigger none. */
  hook?: HookItem;
  /** The supported quick actions. If omitted, commands in texts are plain text. */
  quickActions?: QuickActions;
  /** The diff that comments can refer to, if it has one. */
  diff?: Diff;
  /** If omitted, threads cannot be resolved. */
  threads?: Threads;
}

/** The diff of a noun. */
export interface Diff<N extends Noteable = Noteable> {
  /**
   * Checks a position against the diff.
   * @throws ApiError 400
   */
  position(
    services: Pick<Services, 'db' | 'storages'>,
    on: Granted<N>,
    given: GivenPosition,
    commit_id?: string,
  ): Promise<Position>;
  /**
   * Called in the same transaction when a thread starts at a position in the whole diff. The transaction has already
   * updated the noteable.
   */
  afterPlaced?(tx: Database, on: Issuable, position: Position): Promise<void>;
  /** Whether it has commits with diffs of their own, selected by `commit_id`. */
  has_commits?: true;
}

/** How the threads on a noun are resolved. */
export interface Threads {
  /** Whether the caller may resolve and reopen them. */
  mayResolve(db: Database, granted: OnIssuable): Promise<boolean>;
  /** Called in the same transaction when no thread is open any more. */
  afterLastThread(tx: Database, on: Issuable): Promise<void>;
}
