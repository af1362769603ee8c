/** Exports and imports the issues that a merge request closes (docs/reference/relations_export.md#merge_requests). */
import { sql } from 'kysely';
import { issueKind, rowsWithPlaces } from '../../../../access/index.ts';
import { type ArrivingRow, type RecordKind, shown } from '../../../../relations/index.ts';
import { itemsAt } from '../../issuables/links/relation.ts';

/** An issue that the reader may see. */
const issue = sql`from issues where issues.id = merge_request_closed_issues.issue_id`;
const projectOf = (column: 'issue' | 'merge_request') =>
  column === 'issue'
    ? sql`(select issues.project_id ${issue})`
    : sql`(select project_id from merge_requests where merge_requests.id = merge_request_closed_issues.merge_request_id)`;

/** An issue that a merge request closes or has closed. All issues are imported before merge requests. */
export const closingIssue: RecordKind = {
  table: 'merge_request_closed_issues',
  is_link: true,
  distinct: ['issue_id'],
  members: {
    issue_iid: shown(sql`(select issues.iid ${issue})`),
    issue_full_path: shown(
      sql`(select full_path from projects where id = ${projectOf('issue')} and id <> ${projectOf('merge_request')})`,
    ),
  },
  stays: {},
  isVisible: ({ caller }) =>
    sql`exists (select from ${rowsWithPlaces(issueKind)} where issues.id = merge_request_closed_issues.issue_id and ${issueKind.isVisible(caller)})`,
  derives: {
    columns: { issue_id: 'bigint' },
    derive: async (rows, arrival, tx) => {
      const ends = rows.map(({ value }) => ({ iid: value.issue_iid, path: value.issue_full_path ?? null }));
      const ids = await itemsAt(tx, issueKind, arrival, ends);
      return new Map(
        rows.flatMap((each, index): [ArrivingRow, string][] => {
          each.row.issue_id = ids[index] ?? null;
          return ids[index] === undefined ? [[each, 'names an issue that is not here']] : [];
        }),
      );
    },
  },
};
