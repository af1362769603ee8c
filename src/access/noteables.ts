/**
 * Noteables: the objects that users comment on. Shared code uses only what a kind declares. Most kinds have rows of their own (`StoredKind`); some of these also
 * have numbers, labels and a state, and texts refer to them (`IssuableKind`). Commits have no rows.
 */
import type { RawBuilder, SqlBool } from 'kysely';
import type { PagePath } from '../foundation/addresses.ts';
import type { Access, AnyEndpoint, Caller } from '../http/endpoint.ts';
import type { Group } from './groups.ts';
import type { MaybeCaller, Reading } from './instance.ts';
import type { Project } from './projects.ts';

/** The column that names an issuable in notes, to-dos, reactions, subscriptions, mentions and resource events. Each table has one per kind. */
export type IssuableColumn = 'issue_id' | 'epic_id' | 'merge_request_id';

/** The column that names a noteable with a row in notes, reactions and mentions. */
export type StoredColumn = IssuableColumn | 'snippet_id';

/** The column of notes that only notes on noteables of a kind have. */
export type NoteableColumn = StoredColumn | 'commit_id';

/** Where a noteable is, and what the caller may do there. */
interface Placed {
  /** Its project or group, with the caller's access level there. */
  in: { project: Project } | { group: Group };
  /** The caller's access level in its project or group. */
  access_level: number;
}

export type PlacedNoteable = Noteable & Placed;

/** A noteable that a path names and an access rule has granted. */
export type Granted<N extends Noteable> = N &
  Placed & {
    /** Whether only members may comment and react. */
    locked: boolean;
  };

export interface OnNoteable<C = Caller, N extends Noteable = Noteable> {
  caller: C;
  on: Granted<N>;
}

/** A path that names a noteable, with its access rules. */
export interface NoteableAddress<N extends Noteable = Noteable> {
  path: string;
  /**
   * Admits everyone who may read it, signed in or not.
   * @param missing how the 404 names the noteable
   */
  visible(missing?: string): Access<OnNoteable<MaybeCaller, N>>;
  /** Admits signed-in callers who may read it. */
  reader(missing?: string): Access<OnNoteable<Caller, N>>;
}

/** A kind of noteables: the facts that comments on them need, and their access rules. */
export interface NoteableKind {
  /** The name in texts. */
  name: 'issue' | 'epic' | 'merge request' | 'snippet' | 'commit';
  /** The name in responses. */
  type: 'Issue' | 'Epic' | 'MergeRequest' | 'Snippet' | 'Commit';
  column: NoteableColumn;
  /** The column that names its project or group, and the table of that project or group. */
  place_column: 'project_id' | 'group_id';
  places: 'projects' | 'namespaces';
  /** The path of its page, by the full path of its project or group and its number, id or SHA. */
  page: PagePath;
  /** Whether a reply to a comment outside threads makes both a thread. Otherwise such comments cannot be replied to. */
  threads_comments: boolean;
  /** The path of its notes, discussions and resource events. */
  discussed_at: NoteableAddress;
  /** Endpoints on it, with the plan of the kind if they have none, under all their paths. */
  endpoints(all: readonly AnyEndpoint[]): AnyEndpoint[];
  /** A predicate on its rows joined with their projects or groups: the caller may read it. */
  isVisible(caller: Reading): RawBuilder<SqlBool>;
  /** A predicate on the same rows joined with `users`: the user may read it. */
  isRead: RawBuilder<SqlBool>;
  /** A predicate on the same rows: the user may read internal notes on it. */
  isReadInside: RawBuilder<SqlBool>;
}

/** A kind of noteables with rows of their own. */
export interface StoredKind extends NoteableKind {
  table: 'issues' | 'epics' | 'merge_requests' | 'snippets';
  column: StoredColumn;
  /** The path that names one, and below which it is reacted to. */
  at: NoteableAddress<Stored>;
  discussed_at: NoteableAddress<Stored>;
}

/** A kind of noteables that have numbers, labels and a state, and that texts refer to. */
export interface IssuableKind extends StoredKind {
  name: 'issue' | 'epic' | 'merge request';
  type: 'Issue' | 'Epic' | 'MergeRequest';
  table: 'issues' | 'epics' | 'merge_requests';
  column: IssuableColumn;
  /** The name of references to it among those that texts can have. */
  reference: 'issue' | 'epic' | 'merge_request';
  /** The character before its number in references. */
  sign: '#' | '&' | '!';
  /** The tables of its assignees and reviewers, if it has any, and of its labels. */
  assignees: 'issue_assignees' | 'merge_request_assignees' | undefined;
  reviewers: 'merge_request_reviewers' | undefined;
  labels: 'issue_labels' | 'epic_labels' | 'merge_request_labels';
  /** The path that names it by number. */
  at: NoteableAddress<NumberedIssuable>;
  discussed_at: NoteableAddress<NumberedIssuable>;
}

/** The kind of commits, which have no rows: a project and an id name one. */
export interface CommitKind extends NoteableKind {
  type: 'Commit';
  column: 'commit_id';
  /** The path that names one, and below which its comments are listed without their threads. */
  commented_at: NoteableAddress<DiscussedCommit>;
  discussed_at: NoteableAddress<DiscussedCommit>;
}

/** The object of a comment: a row of its kind, or a commit. */
export type Noteable = Stored | DiscussedCommit;

export interface DiscussedCommit {
  kind: CommitKind;
  project_id: number;
  /** Its full id. */
  sha: string;
}

export interface Stored {
  kind: StoredKind;
  id: number;
}

/** The issuables for which a mention in a comment creates to-dos and `mentioned in …` notes. */
export type Followed = Issuable | DiscussedCommit;

/** An issue, an epic or a merge request. */
export interface Issuable extends Stored {
  kind: IssuableKind;
}

export interface NumberedIssuable extends Issuable {
  iid: number;
}

export type PlacedIssuable = NumberedIssuable & Placed;

/** An issuable in the path, and the caller. */
export type OnIssuable = OnNoteable<Caller, NumberedIssuable>;
