/** All kinds of noteables, and queries for any of them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { epicKind } from './epics.ts';
import type { Group } from './groups.ts';
import { issueKind } from './issues.ts';
import type {
  Granted,
  Issuable,
  IssuableKind,
  Noteable,
  NoteableColumn,
  NumberedIssuable,
  PlacedNoteable,
  StoredKind,
} from './noteables.ts';
import type { Project } from './projects.ts';

export const issuableKinds: readonly IssuableKind[] = [issueKind, epicKind];

/** The kinds with rows of their own. */
export const storedKinds: readonly StoredKind[] = [...issuableKinds];

export const noteableKinds: readonly StoredKind[] = [...storedKinds];

/** Whether it is an issue or an epic. */
export function isIssuable(noteable: Granted<Noteable>): noteable is Granted<NumberedIssuable>;
export function isIssuable(noteable: Noteable): noteable is Issuable;
export function isIssuable({ kind }: Noteable): boolean {
  return issuableKinds.some((issuable) => issuable === kind);
}

/** The columns that name a noteable: its own has the ID, the others are null. */
export const noteableColumns = (noteable: Noteable | undefined): Record<NoteableColumn, number | null> =>
  Object.fromEntries(
    noteableKinds.map(({ column }) => [column, column === noteable?.kind.column ? noteable.id : null]),
  ) as Record<NoteableColumn, number | null>;

/** The thing of one of these kinds that the columns of a row name, undefined if they name none. */
export function noteableOf<K extends StoredKind>(
  kinds: readonly K[],
  row: Readonly<Record<K['column'], number | null>>,
): { kind: K; id: number } | undefined {
  const kind = kinds.find(({ column }) => row[column as K['column']] !== null);
  return kind && { kind, id: row[kind.column as K['column']]! };
}

/** A predicate on rows of a table with a column for each kind: they are about the noteable. */
export const isAbout = (table: string, { kind, id }: Noteable): RawBuilder<boolean> =>
  sql`${sql.ref(`${table}.${kind.column}`)} = ${id}`;

/** The rows of a kind joined with their projects or groups, for `from`. */
export const rowsWithPlaces = ({ table, places, place_column }: StoredKind): RawBuilder<unknown> =>
  sql`${sql.table(table)} join ${sql.table(places)} on ${sql.ref(`${places}.id`)} = ${sql.ref(`${table}.${place_column}`)}`;

const whoseRow = ({ kind, id }: Noteable, predicate: RawBuilder<SqlBool>) =>
  sql<SqlBool>`exists (select from ${rowsWithPlaces(kind)} where ${sql.ref(`${kind.table}.id`)} = ${id} and ${predicate})`;

/** A predicate on rows of `users`: the user may read the noteable. */
export const isReaderOf = (noteable: Noteable): RawBuilder<SqlBool> => whoseRow(noteable, noteable.kind.isRead);

/** A predicate on rows of `users`: the user may read internal notes on it. */
export const readsInternalNotesOn = (noteable: Noteable): RawBuilder<SqlBool> => whoseRow(noteable, noteable.kind.isReadInside);

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
