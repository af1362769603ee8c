/** What notifications are about, as parts of statements: something that is discussed, or a project itself. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  countsToday,
  isAbout,
  isIssuable,
  isKnownProject,
  isReaderOf,
  type Noteable,
  readsInternalNotesOn,
  rowOf,
} from '../../../access/index.ts';
import { participants } from '../issuables/index.ts';

/** A project that has moved. */
export interface ProjectItself {
  project_id: number;
  kind?: undefined;
}

export type Subject = Noteable | ProjectItself;

/** The row with its project or group, for `from` and `where`. */
export const rowAbout = (subject: Subject): { rows: RawBuilder<unknown>; isIts: RawBuilder<SqlBool> } =>
  subject.kind ? rowOf(subject) : { rows: sql`projects`, isIts: sql`projects.id = ${subject.project_id}` };

/** A predicate on rows of `users`: the user may read it, or internal comments on it. */
export function isToldOf(subject: Subject, isInternal: boolean): RawBuilder<SqlBool> {
  if (subject.kind) return isInternal ? readsInternalNotesOn(subject) : isReaderOf(subject);
  const { rows, isIts } = rowAbout(subject);
  return sql`exists (select from ${rows} where ${isIts} and ${isKnownProject})`;
}

/** Whether it is in a group and not in a project. */
export const isInGroup = ({ kind }: Subject): boolean => kind?.places === 'namespaces';

/** The ids of those who take part in it. In a project, these are its members. */
export function takingPart(subject: Subject): RawBuilder<unknown> {
  if (!subject.kind)
    return sql`select user_id from project_authorizations where project_id = ${subject.project_id} and ${countsToday()}`;
  if (isIssuable(subject)) return participants(subject);
  const commenters = sql`select author_id from notes where ${isAbout('notes', subject)} and not system and not internal`;
  const mentioned = sql`
    select user_id from user_mentions join notes on notes.id = note_id where ${isAbout('notes', subject)} and not internal`;
  const { rows, isIts } = rowAbout(subject);
  const author = 'id' in subject ? sql`union select author_id from ${rows} where ${isIts}` : sql``;
  return sql`${commenters} union ${mentioned} ${author}`;
}

/** A predicate on rows of a table: they are about it. Only what has a number is subscribed to and mentioned in a description. */
export const concerns = (table: string, subject: Subject): RawBuilder<SqlBool> =>
  subject.kind && isIssuable(subject) ? isAbout(table, subject) : sql<SqlBool>`false`;

/** A predicate on rows of `users`: the user is one of its assignees or reviewers. */
export function isAmongIts(people: 'assignees' | 'reviewers', subject: Subject): RawBuilder<SqlBool> {
  const table = subject.kind && isIssuable(subject) ? subject.kind[people] : undefined;
  if (table === undefined) return sql`false`;
  return sql`exists (select from ${sql.table(table)} people where ${isAbout('people', subject as Noteable)} and people.user_id = users.id)`;
}
