/** Notes as replies and rules need them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isVisibleEpic, isVisibleIssue, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** What a note is on. */
export type Noteable = { issue_id: number } | { epic_id: number };

/** Both columns that say what a note is on. */
export const columnsOfNoteable = (noteable: Noteable) =>
  'issue_id' in noteable ? { issue_id: noteable.issue_id, epic_id: null } : { issue_id: null, epic_id: noteable.epic_id };

/** A predicate on rows of `notes`: they are on an issue or epic. */
export const isOn = (noteable: Noteable): RawBuilder<SqlBool> =>
  'issue_id' in noteable ? sql`notes.issue_id = ${noteable.issue_id}` : sql`notes.epic_id = ${noteable.epic_id}`;

/**
 * A predicate on rows of `notes`, whose issue or epic the caller may read: he may read the note as well. What speaks of something that he may not read is not for
 * him. What a note speaks of is looked up by its id: as `exists` PostgreSQL may prefer to read all issues first.
 * @param withInternal whether he may read internal notes: members from Planner on
 */
export const isVisibleNote = (caller: MaybeCaller, withInternal: boolean): RawBuilder<SqlBool> => sql`
  (${withInternal ? sql`true` : sql`not notes.internal`}
   and (notes.refers_to_issue_id is null or (
     select ${isVisibleIssue(caller)} from issues join projects on projects.id = issues.project_id where issues.id = notes.refers_to_issue_id))
   and (notes.refers_to_epic_id is null or (
     select ${isVisibleEpic(caller)} from epics join namespaces on namespaces.id = epics.group_id where epics.id = notes.refers_to_epic_id)))`;

/** A note with everything that replies say of it. */
export interface NoteRow {
  id: number;
  issue_id: number | null;
  epic_id: number | null;
  discussion_id: string;
  type: string | null;
  body: string;
  system: boolean;
  internal: boolean;
  created_at: string;
  updated_at: string;
  project_id: number | null;
  issue_iid: number | null;
  author_id: number | null;
  author_username: string | null;
  author_name: string | null;
  author_state: string | null;
  author_public_email: string | null;
}

/** Notes with everything that replies say of them. */
export const noteRows = (db: Database) =>
  db
    .selectFrom('notes')
    .leftJoin('users as authors', 'authors.id', 'notes.author_id')
    .leftJoin('issues as noteables', 'noteables.id', 'notes.issue_id')
    .select(['notes.id', 'notes.issue_id', 'notes.epic_id', 'notes.discussion_id', 'notes.type', 'notes.body', 'notes.system'])
    .select(['notes.internal', 'notes.created_at', 'notes.updated_at', 'notes.author_id'])
    .select(['noteables.project_id', 'noteables.iid as issue_iid', 'authors.username as author_username'])
    .select(['authors.name as author_name', 'authors.state as author_state', 'authors.public_email as author_public_email']);
