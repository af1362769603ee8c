/** Queries for suggestions to apply (docs/reference/merge_requests.md#suggestions). */
import { sql } from 'kysely';
import {
  commitEmailOf,
  isPrimaryProved,
  levels,
  mergeRequestKind,
  type Project,
  projectFor,
} from '../../../../access/index.ts';
import { type Database, isAmong } from '../../../../db/index.ts';
import type { Caller, Services } from '../../../../http/index.ts';
import {
  isVisibleNote,
  type Position,
  type SuggestionReply,
  suggestionJson,
} from '../../../conversation/notes/index.ts';

export interface Suggested {
  id: number;
  merge_request_id: number;
  project_id: number;
  discussion_id: string;
  /** Null if the user was deleted. */
  author_id: number | null;
  internal: boolean;
  position: Position;
  lines_above: number;
  lines_below: number;
  from_content: string;
  to_content: string;
  is_applied: boolean;
  /** Whether a later version of the code has changed the lines. */
  is_outdated: boolean;
}

/** Suggestions on merge requests that the caller may read, ordered by id; those in internal notes only for Planners and above. */
export async function suggestionsWith(db: Database, caller: Caller, ids: readonly number[]): Promise<Suggested[]> {
  const rows = await db
    .selectFrom('suggestions')
    .innerJoin('notes', 'notes.id', 'suggestions.note_id')
    .innerJoin('merge_requests', 'merge_requests.id', 'notes.merge_request_id')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(['suggestions.id', 'merge_requests.id as merge_request_id', 'projects.id as project_id', 'discussion_id'])
    .select(['notes.author_id', 'internal', sql<Position>`notes.position`.as('position')])
    .select(['lines_above', 'lines_below', 'from_content', 'to_content'])
    .select([
      sql<boolean>`suggestions.commit_id is not null`.as('is_applied'),
      sql<boolean>`suggestions.outdated or notes.outdated`.as('is_outdated'),
    ])
    .where(isAmong('suggestions.id', ids, 'bigint[]'))
    .where(mergeRequestKind.isVisible(caller))
    .where(isVisibleNote(caller, true))
    .orderBy('suggestions.id')
    .execute();
  if (!rows.some(({ internal }) => internal)) return rows;
  const projects = await Promise.all(
    [...new Set(rows.map(({ project_id }) => project_id))].map((id) => targetOf(db, caller, id)),
  );
  const inside = new Set(projects.filter(({ access_level }) => access_level >= levels.planner).map(({ id }) => id));
  return rows.filter(({ internal, project_id }) => !internal || inside.has(project_id));
}

/** The target project of a merge request that the caller may read. */
export async function targetOf(db: Database, caller: Caller, id: number): Promise<Project> {
  const project = await projectFor(db, caller, String(id));
  if (!project) throw new Error(`the project ${id} is gone`);
  return project;
}

/** Suggestions in replies, ordered by id. */
export async function suggestionReplies(db: Database, ids: readonly number[]): Promise<SuggestionReply[]> {
  const rows = await db
    .selectFrom('suggestions')
    .innerJoin('notes', 'notes.id', 'suggestions.note_id')
    .select(suggestionJson.as('reply'))
    .where(isAmong('suggestions.id', ids, 'bigint[]'))
    .orderBy('suggestions.id')
    .execute();
  return rows.map(({ reply }) => reply);
}

/** A user as named in commits. */
export interface Author {
  id: number;
  name: string;
  email: string;
}

/** The authors of suggestions as named in commits, ordered by id. */
export async function authorsOf(
  { db, url }: Pick<Services, 'db' | 'url'>,
  suggested: readonly Suggested[],
): Promise<Author[]> {
  const ids = suggested.map(({ author_id }) => author_id).filter((id) => id !== null);
  const rows = await db
    .selectFrom('users')
    .select(['users.id', 'username', 'name', 'email', 'commit_email', isPrimaryProved.as('has_proved_email')])
    .where(isAmong('users.id', ids, 'bigint[]'))
    .orderBy('users.id')
    .execute();
  return rows.map((row) => ({ id: row.id, name: row.name, email: commitEmailOf(row, url) }));
}

/** The settings of the target project for messages of commits that apply suggestions. */
export const messageSettings = (db: Database, project_id: number) =>
  db
    .selectFrom('projects')
    .select(['name', 'full_path', 'suggestion_commit_message'])
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
