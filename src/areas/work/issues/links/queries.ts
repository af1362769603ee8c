/** Queries for issues that a caller may link. */
import { sql } from 'kysely';
import { isVisibleIssue, levels, type Project, projectLevel, projectState } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import type { Caller } from '../../../../http/index.ts';

/** An issue as referenced in system notes of others. */
export interface LinkedIssue {
  id: number;
  iid: number;
  project_id: number;
  /** The path of its project. */
  full_path: string;
}

/** An issue that the caller may read, with their level in its project. */
export interface VisibleIssue extends LinkedIssue {
  access_level: number;
  read_only: boolean;
}

/** The given issues that the caller may read, ordered by id. */
export async function visibleIssues(db: Database, caller: Caller, ids: readonly number[]): Promise<VisibleIssue[]> {
  const { rows } = await sql<VisibleIssue>`
    select issues.id, issues.iid, issues.project_id, projects.full_path::text as full_path, ${projectLevel(caller)} as access_level,
           ${projectState.read_only} as read_only
      from issues join projects on projects.id = issues.project_id
     where issues.id = any(${ofAnyLength(ids, 'bigint[]')}) and ${isVisibleIssue(caller)} order by issues.id`.execute(
    db,
  );
  return rows;
}

/** Whether the caller may link an issue; both projects need the same role. */
export const isLinkable = ({ access_level, read_only }: Pick<Project, 'access_level' | 'read_only'>): boolean =>
  access_level >= levels.reporter && !read_only;
