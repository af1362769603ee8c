/** Counts items that refer to issues. Only items that the caller may read are counted, because a number would reveal the others. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isVisibleIssue, type MaybeCaller, mergeRequestKind, rowsWithPlaces } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';

type Counts = ReadonlyMap<number, number>;

/**
 * @param issue the column with the issue id
 * @param rows the counted rows, joined with everything needed to filter them
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

/** The number of open issues, readable by the caller, that each issue blocks, by id; issues that block none are omitted. */
export const blockedIssues = (db: Database, caller: MaybeCaller, ids: readonly number[]): Promise<Counts> =>
  countEach(
    db,
    ids,
    'issue_links.source_id',
    sql`issue_links join issues on issues.id = issue_links.target_id join projects on projects.id = issues.project_id`,
    sql`issue_links.link_type = 'blocks' and issues.state = 'opened' and ${isVisibleIssue(caller)}`,
  );

/** The number of merge requests, readable by the caller, that close each issue, by id; issues without any are omitted. */
export const closingMergeRequests = (db: Database, caller: MaybeCaller, ids: readonly number[]): Promise<Counts> =>
  countEach(
    db,
    ids,
    'closing.issue_id',
    sql`${rowsWithPlaces(mergeRequestKind)} join merge_request_closed_issues closing on closing.merge_request_id = merge_requests.id`,
    mergeRequestKind.isVisible(caller),
  );
