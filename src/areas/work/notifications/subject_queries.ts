/** What notifications are about, as parts of statements: something that is discussed, an error of an application, a vulnerability, or a project itself. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  countsToday,
  isAbout,
  isIssuable,
  isKnownProject,
  isReaderOf,
  isUserOfProject,
  levels,
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

/** An error of an application. */
export interface TrackedError {
  error_id: number;
  kind?: undefined;
}

/** A vulnerability of a project. */
export interface FoundVulnerability {
  vulnerability_id: number;
  kind?: undefined;
}

export type Subject = Noteable | TrackedError | FoundVulnerability | ProjectItself;

const isError = (subject: Subject): subject is TrackedError => 'error_id' in subject;
const isVulnerability = (subject: Subject): subject is FoundVulnerability => 'vulnerability_id' in subject;

/** The row with its project or group, for `from` and `where`. */
export function rowAbout(subject: Subject): { rows: RawBuilder<unknown>; isIts: RawBuilder<SqlBool> } {
  if (isError(subject))
    return {
      rows: sql`error_tracking_errors errors join projects on projects.id = errors.project_id`,
      isIts: sql`errors.id = ${subject.error_id}`,
    };
  if (isVulnerability(subject))
    return {
      rows: sql`vulnerabilities join projects on projects.id = vulnerabilities.project_id`,
      isIts: sql`vulnerabilities.id = ${subject.vulnerability_id}`,
    };
  return subject.kind ? rowOf(subject) : { rows: sql`projects`, isIts: sql`projects.id = ${subject.project_id}` };
}

/** A predicate on rows of `users`: the user may read it, or internal comments on it. */
export function isToldOf(subject: Subject, isInternal: boolean): RawBuilder<SqlBool> {
  if (subject.kind) return isInternal ? readsInternalNotesOn(subject) : isReaderOf(subject);
  const { rows, isIts } = rowAbout(subject);
  const readersFrom = isError(subject) ? levels.reporter : isVulnerability(subject) ? levels.developer : undefined;
  const reads = readersFrom === undefined ? isKnownProject : sql`(users.admin or ${isUserOfProject(readersFrom)})`;
  return sql`exists (select from ${rows} where ${isIts} and ${reads})`;
}

/** Whether it is in a group and not in a project. */
export const isInGroup = ({ kind }: Subject): boolean => kind?.places === 'namespaces';

/**
 * The ids of those who take part in it: in a project its members, in an error its assignee.
 * @param isForMembers whether the members of its project take part in an error
 */
export function takingPart(subject: Subject, isForMembers: boolean): RawBuilder<unknown> {
  if (isError(subject) && !isForMembers) return sql`select assignee_id from error_tracking_errors where id = ${subject.error_id}`;
  if (isError(subject))
    return sql`
      select user_id from error_tracking_errors errors join project_authorizations using (project_id)
       where errors.id = ${subject.error_id} and access_level >= ${levels.reporter} and ${countsToday()}`;
  // Nobody takes part in a vulnerability before they have read of it.
  if (isVulnerability(subject)) return sql`select null::bigint where false`;
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
  if (isError(subject) && people === 'assignees')
    return sql`exists (select from error_tracking_errors errors where errors.id = ${subject.error_id} and errors.assignee_id = users.id)`;
  const table = subject.kind && isIssuable(subject) ? subject.kind[people] : undefined;
  if (table === undefined) return sql`false`;
  return sql`exists (select from ${sql.table(table)} people where ${isAbout('people', subject as Noteable)} and people.user_id = users.id)`;
}
