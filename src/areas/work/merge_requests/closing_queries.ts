/** The issues that merging closes, as texts and commits say (docs/reference/merge_requests.md#closing-issues). */
import { sql } from 'kysely';
import { isOwnIssue, issueKind, levels, projectLevel } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { pairsMeant, thingsNamed } from '../../conversation/markdown/index.ts';
import { closingReferences } from './closing_rules.ts';

/** More issues than this are not closed by one merge. */
const most_issues = 100;

export interface ClosedIssue {
  id: number;
  iid: number;
  project_id: number;
  full_path: string;
}

/**
 * The open issues that texts say they close, of those that the caller may update.
 * @param full_path of the project whose issues `#1` means
 */
export async function issuesClosedBy(
  db: Database,
  caller: Caller,
  full_path: string,
  texts: readonly string[],
): Promise<ClosedIssue[]> {
  const references = (await Promise.all(texts.map(closingReferences))).flat();
  const surroundings = { project_path: full_path, group_path: full_path.slice(0, full_path.lastIndexOf('/')) };
  const named = await thingsNamed(db, caller, issueKind, pairsMeant(issueKind, references, surroundings, most_issues));
  const ids = named.map(({ id }) => id);
  if (ids.length === 0) return [];
  const { rows } = await sql<ClosedIssue>`
    select issues.id, issues.iid, issues.project_id, projects.full_path::text as full_path
      from issues join projects on projects.id = issues.project_id
     where issues.id = any(${ids}::bigint[]) and issues.state = 'opened'
       and (${projectLevel(caller)} >= ${levels.planner} or ${isOwnIssue(caller)}) order by issues.id`.execute(db);
  return rows;
}
