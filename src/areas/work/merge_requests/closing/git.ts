/** Finds the issues that merging closes, from texts and commits (docs/reference/merge_requests.md#closing-issues). */
import { sql } from 'kysely';
import { isOwnIssue, issueKind, levels, projectLevel } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { listCommits, repositoryOf } from '../../../../git/index.ts';
import type { Caller, Services } from '../../../../http/index.ts';
import { pairsMeant, thingsNamed } from '../../../conversation/markdown/index.ts';
import type { MergeFacts } from '../branch_queries.ts';
import { closingReferences } from './rules.ts';

/** The most issues closed by one merge. */
const maximumIssues = 100;
/** The most commits read for references to issues. */
const maximumTold = 1_000;

/** Whether merging closes issues: only into the default branch, and unless the project disables it. */
export const closesIssues = ({ target, target_branch }: Pick<MergeFacts, 'target' | 'target_branch'>): boolean =>
  target_branch === target.default_branch && target.autoclose_referenced_issues;

/** The texts that determine which issues merging closes: the description and the commit messages. Empty if merging closes no issues. */
export async function closingTexts(services: Pick<Services, 'storages'>, facts: MergeFacts): Promise<string[]> {
  if (!closesIssues(facts)) return [];
  const { version, description, target } = facts;
  const range = version && { from: [version.head_commit_sha], not: [version.start_commit_sha], limit: maximumTold };
  const commits = range ? await listCommits(repositoryOf(services, target), range) : [];
  return [description ?? '', ...commits.map(({ message }) => message)];
}

export interface ClosedIssue {
  id: number;
  iid: number;
  project_id: number;
  full_path: string;
}

/**
 * The open issues that texts close, among those that the caller may update.
 * @param full_path the project that `#1` refers to
 */
export async function issuesClosedBy(
  db: Database,
  caller: Caller,
  full_path: string,
  texts: readonly string[],
): Promise<ClosedIssue[]> {
  const references = (await Promise.all(texts.map(closingReferences))).flat();
  const surroundings = { project_path: full_path, group_path: full_path.slice(0, full_path.lastIndexOf('/')) };
  const named = await thingsNamed(
    db,
    caller,
    issueKind,
    pairsMeant(issueKind, references, surroundings, maximumIssues),
  );
  const ids = named.map(({ id }) => id);
  if (ids.length === 0) return [];
  const { rows } = await sql<ClosedIssue>`
    select issues.id, issues.iid, issues.project_id, projects.full_path::text as full_path
      from issues join projects on projects.id = issues.project_id
     where issues.id = any(${ids}::bigint[]) and issues.state = 'opened'
       and (${projectLevel(caller)} >= ${levels.planner} or ${isOwnIssue(caller)}) order by issues.id`.execute(db);
  return rows;
}
