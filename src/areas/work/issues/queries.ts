/** Queries for issues in replies. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { issueKind, isVisibleIssue, type MaybeCaller } from '../../../access/index.ts';
import { type Database, dataLoader, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import { columnsOf, type RowOf } from '../../../fields/index.ts';
import { internalComments } from '../../conversation/notes/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { borneLabels, type LabelRow } from '../../planning/labels/index.ts';
import { type MilestoneRow, milestoneJson } from '../../planning/milestones/index.ts';
import { isSubscribed } from '../issuables/queries.ts';
import { issueFields } from './fields.ts';

export interface IssueRow extends RowOf<typeof issueFields, 'issues'> {
  internal_notes_count: number;
  /** The path of its project. */
  full_path: string;
  /** Whether its project is in a group, so that it can have an epic and an iteration. */
  in_group: boolean;
  author: UserBasicRow | null;
  closed_by: UserBasicRow | null;
  /** Whether any merge request closes it; the caller may not be able to read that one. */
  is_closed_by_any: boolean;
  assignees: UserBasicRow[];
  milestone: MilestoneRow | null;
  labels: LabelRow[];
  /** Whether it blocks other issues, which may be closed or hidden from the caller. */
  blocks_others: boolean;
  epic_id: number | null;
  /** The error that it was created from. */
  error_tracking_error_id: number | null;
  /** Whether the caller is subscribed to it; false in a list of several. */
  subscribed: boolean;
}

/**
 * The rows of the requested issues.
 * @param asked a table expression `asked` with the columns `id` and `place`
 * @param subscribed whether the reader is subscribed
 */
const rowsOf = <Row extends IssueRow>(asked: RawBuilder<unknown>, subscribed: RawBuilder<SqlBool>) => sql<Row>`
  select ${columnsOf(issueFields, 'shown')}, projects.full_path::text as full_path, namespaces.kind = 'group' as in_group,
         case when authors.id is not null then ${userBasicJson('authors')} end as author,
         case when closers.id is not null then ${userBasicJson('closers')} end as closed_by,
         array(select ${userBasicJson('users')} from issue_assignees join users on users.id = issue_assignees.user_id
                where issue_assignees.issue_id = shown.id order by users.id) as assignees,
         ${borneLabels(issueKind, 'shown')} as labels,
         ${milestoneJson('shown.milestone_id')} as milestone,
         exists (select from issue_links where source_id = shown.id and link_type = 'blocks') as blocks_others,
         exists (select from merge_request_closed_issues closing where closing.issue_id = shown.id) as is_closed_by_any,
         ${internalComments(issueKind, 'shown')} as internal_notes_count,
         (select errors.id from error_tracking_errors errors where errors.issue_id = shown.id) as error_tracking_error_id,
         (select epic_id from epic_issues where issue_id = shown.id) as epic_id,
         ${subscribed} as subscribed, asked.place
    from ${asked}
         join issues shown on shown.id = asked.id
         join projects on projects.id = shown.project_id
         join namespaces on namespaces.id = projects.namespace_id
         left join users authors on authors.id = shown.author_id
         left join users closers on closers.id = shown.closed_by_id
   order by asked.place`;

const issuesById = statement(({ ids }: Slots<{ ids: readonly number[] }>) =>
  rowsOf(sql`unnest(${ofAnyLength(ids, 'bigint[]')}) with ordinality asked(id, place)`, sql`false`),
);

/** Issues by id, in the given order, without deleted ones and without `subscribed`. Does not check whether the caller may read them. */
export const issueRows = async (db: Database, ids: readonly number[]): Promise<IssueRow[]> =>
  ids.length === 0 ? [] : issuesById(db, { ids });

interface ReaderOfIssue {
  id: number;
  reader_id: number | null;
}

const keyOf = ({ id, reader_id }: ReaderOfIssue) => `${id} ${reader_id}`;

const issuesOfReaders = statement(({ ids, readers }: Slots<{ ids: number[]; readers: (number | null)[] }>) =>
  rowsOf<IssueRow & { place: number }>(
    sql`unnest(${ofAnyLength(ids, 'bigint[]')}, ${ofAnyLength(readers, 'bigint[]')}) with ordinality asked(id, reader_id, place)`,
    isSubscribed(issueKind, sql`asked.reader_id`, 'shown'),
  ),
);

const issuesAsked = dataLoader<ReaderOfIssue, IssueRow>(keyOf, async (db, asked) => {
  const rows = await issuesOfReaders(db, {
    ids: asked.map(({ id }) => id),
    readers: asked.map(({ reader_id }) => reader_id),
  });
  return new Map(rows.map((row) => [keyOf(asked[row.place - 1]!), row]));
});

/** One issue, undefined if it is deleted. Does not check whether the caller may read it. Concurrent requests share a statement. */
export const issueRow = (db: Database, caller: MaybeCaller, id: number): Promise<IssueRow | undefined> =>
  issuesAsked(db, { id, reader_id: caller?.id ?? null });

/** The locations of issues, by id. */
export interface IssuePlace {
  id: number;
  project_id: number;
  iid: number;
}

/** The given issues that the caller may read. Few issues are duplicates, and the query is wide, so it is separate from the query for rows. */
export async function originalsById(
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
): Promise<Map<number, IssuePlace>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<IssuePlace>`
    select issues.id, issues.project_id, issues.iid from issues join projects on projects.id = issues.project_id
     where issues.id = any(${ids}::bigint[]) and ${isVisibleIssue(caller)}`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
