/** How many other things belong to issues. Only those count that the caller may read: a number would tell of the others. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isVisibleIssue, type MaybeCaller, mergeRequestKind, rowsWithPlaces } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';

type Counts = ReadonlyMap<number, number>;

/**
 * @param issue the column that names the issue
 * @param rows what is counted, joined with all that decides on it
 */
async function countEach(
  db: Database,
  ids: readonly number[],
  issue: string,
  rows: RawBuilder<unknown>,
  where: RawBuilder<SqlBool>,
): Promise<Counts> {
  if (ids.length === 0) return new Map();
  const of = sql.ref(issue);
  const { rows: found } = await sql<{ id: number; count: number }>`
    select ${of} as id, count(*) as count from ${rows}
     where ${of} = any(${ofAnyLength(ids, 'bigint[]')}) and ${where} group by 1`.execute(db);
  return new Map(found.map(({ id, count }) => [id, count]));
}

/** How many open issues that the caller may read each issue blocks, by its ID; those that block none are left out. */
export const blockedIssues = (db: Database, caller: MaybeCaller, ids: readonly number[]): Promise<Counts> =>
  countEach(
    db,
    ids,
    'issue_links.source_id',
    sql`issue_links join issues on issues.id = issue_links.target_id join projects on projects.id = issues.project_id`,
    sql`issue_links.link_type = 'blocks' and issues.state = 'opened' and ${isVisibleIssue(caller)}`,
  );

/** How many merge requests that the caller may read close each issue, by its ID; issues without any are left out. */
export const closingMergeRequests = (db: Database, caller: MaybeCaller, ids: readonly number[]): Promise<Counts> =>
  countEach(
    db,
    ids,
    'closing.issue_id',
    sql`${rowsWithPlaces(mergeRequestKind)} join merge_request_closed_issues closing on closing.merge_request_id = merge_requests.id`,
    mergeRequestKind.isVisible(caller),
  );
