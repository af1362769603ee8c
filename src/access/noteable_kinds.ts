/** All kinds of noteables, and queries for any of them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { commitKind } from './commits.ts';
import { epicKind } from './epics.ts';
import type { Group } from './groups.ts';
import { issueKind } from './issues.ts';
import { mergeRequestKind } from './merge_requests.ts';
import type {
  Followed,
  Granted,
  Issuable,
  IssuableKind,
  Noteable,
  NoteableKind,
  NumberedIssuable,
  PlacedNoteable,
  StoredColumn,
  StoredKind,
} from './noteables.ts';
import type { Project } from './projects.ts';
import { snippetKind } from './snippets.ts';

export const issuableKinds: readonly IssuableKind[] = [issueKind, epicKind, mergeRequestKind];

/** The kinds with rows of their own. */
export const storedKinds: readonly StoredKind[] = [...issuableKinds, snippetKind];

export const noteableKinds: readonly NoteableKind[] = [...storedKinds, commitKind];

/** Whether it is an issue, an epic or a merge request. */
export function isIssuable(noteable: Granted<Noteable>): noteable is Granted<NumberedIssuable>;
export function isIssuable(noteable: Noteable): noteable is Issuable;
export function isIssuable({ kind }: Noteable): boolean {
  return issuableKinds.some((issuable) => issuable === kind);
}

/** Whether mentions on it are followed by to-dos and `mentioned in …`. */
export const isFollowed = (noteable: Noteable): noteable is Followed => !('id' in noteable) || isIssuable(noteable);

/** The columns of notes that name a noteable. */
type NoteableColumns = Record<StoredColumn | 'project_id', number | null> & { commit_id: string | null };

/** The columns that name a noteable, with their values. */
const keyOf = (noteable: Noteable): Partial<NoteableColumns> =>
  'id' in noteable
    ? { [noteable.kind.column]: noteable.id }
    : { project_id: noteable.project_id, commit_id: noteable.sha };

/** The same columns and those of all other kinds, which are null. */
export const noteableColumns = (noteable: Noteable): NoteableColumns => ({
  ...(Object.fromEntries(storedKinds.map(({ column }) => [column, null])) as Record<StoredColumn, null>),
  project_id: null,
  commit_id: null,
  ...keyOf(noteable),
});

/** The noteable of one of these kinds that the columns of a row name, undefined if they name none. */
export function noteableOf<K extends StoredKind>(
  kinds: readonly K[],
  row: Readonly<Record<K['column'], number | null>>,
): { kind: K; id: number } | undefined {
  const kind = kinds.find(({ column }) => row[column as K['column']] !== null);
  return kind && { kind, id: row[kind.column as K['column']]! };
}

/** A predicate on rows of a table with the columns of each kind: they are about the noteable. */
export const isAbout = (table: string, noteable: Noteable): RawBuilder<boolean> =>
  sql`${sql.join(
    Object.entries(keyOf(noteable)).map(([column, value]) => sql`${sql.ref(`${table}.${column}`)} = ${value}`),
    sql` and `,
  )}`;

/** The rows of a kind joined with their projects or groups, for `from`. */
export const rowsWithPlaces = ({ table, places, place_column }: StoredKind): RawBuilder<unknown> =>
  sql`${sql.table(table)} join ${sql.table(places)} on ${sql.ref(`${places}.id`)} = ${sql.ref(`${table}.${place_column}`)}`;

/** The row of a noteable with its project or group, for `from` and `where`; for a commit, only the row of its project. */
export function rowOf(noteable: Noteable): { rows: RawBuilder<unknown>; isIts: RawBuilder<SqlBool> } {
  if (!('id' in noteable)) return { rows: sql`projects`, isIts: sql`projects.id = ${noteable.project_id}` };
  const { kind, id } = noteable;
  return { rows: rowsWithPlaces(kind), isIts: sql`${sql.ref(`${kind.table}.id`)} = ${id}` };
}

function whoseRow(noteable: Noteable, predicate: RawBuilder<SqlBool>) {
  const { rows, isIts } = rowOf(noteable);
  return sql<SqlBool>`exists (select from ${rows} where ${isIts} and ${predicate})`;
}

/** A predicate on rows of `users`: the user may read the noteable. */
export const isReaderOf = (noteable: Noteable): RawBuilder<SqlBool> => whoseRow(noteable, noteable.kind.isRead);

/** A predicate on rows of `users`: the user may read internal notes on it. */
export const readsInternalNotesOn = (noteable: Noteable): RawBuilder<SqlBool> =>
  whoseRow(noteable, noteable.kind.isReadInside);

/** The project of a noteable in a project. */
export function projectOf(place: PlacedNoteable['in']): Project {
  if ('project' in place) return place.project;
  throw new Error('the noteable is in a group, not in a project');
}

/** The group of a noteable in a group. */
export function groupOf(place: PlacedNoteable['in']): Group {
  if ('group' in place) return place.group;
  throw new Error('the noteable is in a project, not in a group');
}
