/** What a noun says of the comments on it (docs/adding_a_noun.md). */
import type { Granted, Issuable, Noteable, NoteableKind, OnIssuable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { HookItem } from '../../activity/hooks/index.ts';
import type { QuickActions } from '../quick_actions/index.ts';
import type { GivenPosition, Position } from './position_rules.ts';

/** A noun that is discussed. */
export interface Discussable {
  kind: NoteableKind;
  /** How webhooks show comments and reactions. Without it, these trigger none. */
  hook?: HookItem;
  /** Without them, commands in its texts are text. */
  quickActions?: QuickActions;
  /** What comments can be about in part. */
  diff?: Diff;
  /** Without it, threads are not resolved. */
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
  /** What follows, in the same transaction, when a thread starts at a position in its whole diff. The transaction has updated what the thread is on. */
  afterPlaced?(tx: Database, on: Issuable, position: Position): Promise<void>;
  /** Whether it has commits, each with a diff of its own that `commit_id` names. */
  has_commits?: true;
}

/** How the threads on a noun are resolved. */
export interface Threads {
  /** Whether the caller may resolve them and open them again. */
  mayResolve(db: Database, granted: OnIssuable): Promise<boolean>;
  /** What follows, in the same transaction, when none is open any more. */
  afterLastThread(tx: Database, on: Issuable): Promise<void>;
}
