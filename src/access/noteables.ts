/** Noteables: issues and epics, which users discuss, react to, subscribe to and get to-dos for. Shared code knows only what a kind declares. */
import type { RawBuilder, SqlBool } from 'kysely';
import type { Access, AnyEndpoint, Caller } from '../http/endpoint.ts';
import type { Group } from './groups.ts';
import type { MaybeCaller } from './instance.ts';
import type { Project } from './projects.ts';

/** The column that names a noteable in notes, to-dos, reactions, subscriptions, mentions and resource events. Each table has one per kind. */
export type NoteableColumn = 'issue_id' | 'epic_id';

/** A noteable with its project or group. */
export interface PlacedNoteable extends Noteable {
  iid: number;
  /** Its project or group, with the caller's access level there. */
  in: { project: Project } | { group: Group };
  /** The caller's access level in its project or group. */
  access_level: number;
}

/** A noteable that a path names and an access rule has granted. */
export interface GrantedNoteable extends PlacedNoteable {
  /** Whether only members may comment and react. */
  locked: boolean;
}

export interface OnNoteable<C = Caller> {
  caller: C;
  on: GrantedNoteable;
}

/** A path that names a noteable, with its access rules. */
export interface NoteableAddress {
  path: string;
  /**
   * Admits everyone who may read it, signed in or not.
   * @param missing how the 404 names the noteable
   */
  visible(missing?: string): Access<OnNoteable<MaybeCaller>>;
  /** Admits signed-in callers who may read it. */
  reader(missing?: string): Access<OnNoteable>;
}

/** A kind of noteables: its tables and access rules. */
export interface NoteableKind {
  /** The name in texts. */
  name: 'issue' | 'epic';
  /** The name in responses. */
  type: 'Issue' | 'Epic';
  table: 'issues' | 'epics';
  column: NoteableColumn;
  /** The column that names its project or group, and the table of those. */
  place_column: 'project_id' | 'group_id';
  places: 'projects' | 'namespaces';
  /** The character before its number in references. */
  sign: '#' | '&';
  /** The path of its page, after that of its project or group. */
  page: string;
  /** The tables of its assignees, if it has any, and of its labels. */
  assignees: 'issue_assignees' | undefined;
  labels: 'issue_labels' | 'epic_labels';
  /** The path that names it by number, and the path of its discussions and resource events. */
  at: NoteableAddress;
  discussed_at: NoteableAddress;
  /** Endpoints on it, with the plan of the kind if they have none, under all their paths. */
  endpoints(all: readonly AnyEndpoint[]): AnyEndpoint[];
  /** A predicate on its rows joined with their projects or groups: the caller may read it. */
  isVisible(caller: MaybeCaller): RawBuilder<SqlBool>;
  /** A predicate on the same rows joined with `users`: the user may read it. */
  isRead: RawBuilder<SqlBool>;
  /** A predicate on the same rows: the user may read internal notes on it. */
  isReadInside: RawBuilder<SqlBool>;
}

/** An issue or an epic. */
export interface Noteable {
  kind: NoteableKind;
  id: number;
}
