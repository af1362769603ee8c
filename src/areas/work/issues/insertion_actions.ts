/** Inserting the rows of a new issue. */
import { sql } from 'kysely';
import { issueKind, type Project } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { type GivenOf, givenColumns, pick } from '../../../fields/index.ts';
import { conflict } from '../../../http/index.ts';
import { taskColumns } from '../issuables/change_actions.ts';
import { insertIssuable } from '../issuables/creation_actions.ts';
import type { IssuableState } from '../issuables/definition.ts';
import { issueFields } from './fields.ts';

/** The values of an issue. Others have the defaults of the table. */
export type IssueState = Partial<GivenOf<typeof issueFields, 'issues'>> &
  Pick<IssuableState, 'title' | 'description' | 'state' | 'label_ids'> & { assignee_ids: readonly number[] };

/** An issue to insert. */
export type IssueValues = IssueState & {
  author_id: number | null;
  created_at: string | undefined;
};

export interface IssueInsertion {
  /** A chosen iid. */
  iid?: number | undefined;
  /** The IP address and user agent of the request, stored for spam reports. */
  sent_from?: { address: string; user_agent: string } | undefined;
  /** Whether it is a new issue, not one moved here. */
  is_news: boolean;
}

const agentOf = ({ address, user_agent }: { address: string; user_agent: string }) => sql`,
  agent as (insert into issue_user_agents (issue_id, user_agent, ip_address) select added.id, ${user_agent}, ${address}::inet from added)`;

async function isRemoved(db: Database, project_id: number, iid: number): Promise<boolean> {
  const query = db.selectFrom('removed_issue_numbers').select('iid').where('project_id', '=', project_id);
  return (await query.where('iid', '=', iid).executeTakeFirst()) !== undefined;
}

/**
 * Inserts an issue and the rows that every issue has, in one statement.
 * @param db the database itself if this is the only statement, otherwise a transaction
 * @throws ApiError 409 for a chosen iid that is or was in use
 */
export async function insertIssue(
  db: Database,
  { id: project_id }: Pick<Project, 'id'>,
  issue: IssueValues,
  { iid, sent_from, is_news }: IssueInsertion,
): Promise<{ id: number; iid: number }> {
  const { author_id, created_at, label_ids, assignee_ids } = issue;
  const columns = { ...pick(issue, givenColumns(issueFields)), ...(await taskColumns(issue)) };
  try {
    if (iid !== undefined && (await isRemoved(db, project_id, iid))) throw conflict('Duplicated issue');
    return await insertIssuable(db, issueKind, {
      place_id: project_id,
      columns,
      author_id,
      created_at,
      label_ids,
      assignee_ids,
      iid,
      is_news,
      also: sent_from && agentOf(sent_from),
    });
  } catch (error) {
    throw isUniqueViolation(error, 'issues_iid_key') ? conflict('Duplicated issue') : error;
  }
}
