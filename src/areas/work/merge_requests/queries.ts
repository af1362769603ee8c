/** Queries for merge requests in replies. */
import { sql } from 'kysely';
import { isVisibleProject, type MaybeCaller, mergeRequestKind } from '../../../access/index.ts';
import { type Database, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import { columnsOf, type RowOf } from '../../../fields/index.ts';
import { internalComments, isOpen } from '../../conversation/notes/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { borneLabels, type LabelRow } from '../../planning/labels/index.ts';
import { type MilestoneRow, milestoneJson } from '../../planning/milestones/index.ts';
import { isSubscribed } from '../issuables/queries.ts';
import { mergeRequestFields } from './fields.ts';
import { isRebasing } from './merging/rebase_queries.ts';

export interface MergeRequestRow extends RowOf<typeof mergeRequestFields, 'merge_requests'> {
  /** Null if the fork was deleted, or is hidden from the caller. */
  source_project_id: number | null;
  is_from_fork: boolean;
  /** The squash setting of the project. */
  squash_option: string;
  internal_notes_count: number;
  /** The path of the target project. */
  full_path: string;
  author: UserBasicRow | null;
  closed_by: UserBasicRow | null;
  merge_user: UserBasicRow | null;
  assignees: UserBasicRow[];
  reviewers: UserBasicRow[];
  milestone: MilestoneRow | null;
  labels: LabelRow[];
  /** Its latest version; null before the first, and in lists. */
  version: VersionRow | null;
  /** Whether the caller is subscribed to it. */
  subscribed: boolean;
  /** Whether a rebase of it is running. */
  is_rebasing: boolean;
  /** Whether no merge request of its author has been merged in the project. */
  is_first: boolean;
  blocking_discussions_resolved: boolean;
}

export interface VersionRow {
  base_commit_sha: string | null;
  head_commit_sha: string;
  start_commit_sha: string;
  state: 'collected' | 'overflow' | 'without_files';
  files_count: number | null;
}

const version = sql`
  (select json_build_object('base_commit_sha', base_commit_sha, 'head_commit_sha', head_commit_sha, 'start_commit_sha', start_commit_sha,
                            'state', state, 'files_count', files_count)
     from merge_request_versions where id = shown.latest_version_id)`;

const people = (table: string) => sql`
  array(select ${userBasicJson('users')} from ${sql.table(table)} chosen join users on users.id = chosen.user_id
         where chosen.merge_request_id = shown.id order by users.id)`;

/**
 * A predicate on a merge request and its project: open threads block merging.
 * @param shown the alias of `merge_requests`
 * @param target the alias of `projects`
 */
export const hasBlockingThreads = (shown: string, target: string) => sql<boolean>`
  (${sql.ref(`${target}.only_allow_merge_if_all_discussions_are_resolved`)}
    and exists (select from notes where notes.merge_request_id = ${sql.ref(`${shown}.id`)} and ${isOpen}))`;

const isFirst = sql`not exists (
  select from merge_requests before where before.author_id = shown.author_id and before.project_id = shown.project_id and before.state = 'merged')`;

interface Shape extends Record<string, boolean> {
  /** Whether there is a caller. */
  signed_in: boolean;
  admin: boolean;
  external: boolean;
  single: boolean;
}

const mergeRequestsById = statement((slots: Slots<{ ids: readonly number[]; caller_id: number }>, shape: Shape) => {
  const { signed_in, admin, external, single } = shape;
  const caller = signed_in ? { id: slots.caller_id, admin, external } : undefined;
  return sql<MergeRequestRow>`
    select ${columnsOf(mergeRequestFields, 'shown')}, target.full_path::text as full_path, target.squash_option, shown.source_project_id is distinct from shown.project_id as is_from_fork,
           case when shown.source_project_id = shown.project_id then shown.source_project_id
                else (select projects.id from projects where projects.id = shown.source_project_id and ${isVisibleProject(caller)}) end as source_project_id,
           case when authors.id is not null then ${userBasicJson('authors')} end as author,
           case when closers.id is not null then ${userBasicJson('closers')} end as closed_by,
           case when mergers.id is not null then ${userBasicJson('mergers')} end as merge_user,
           ${people('merge_request_assignees')} as assignees,
           ${people('merge_request_reviewers')} as reviewers,
           ${borneLabels(mergeRequestKind, 'shown')} as labels,
           ${milestoneJson('shown.milestone_id')} as milestone,
           not ${hasBlockingThreads('shown', 'target')} as blocking_discussions_resolved,
           ${single ? version : sql`null`} as version,
           ${internalComments(mergeRequestKind, 'shown')} as internal_notes_count,
           ${isRebasing('shown')} as is_rebasing,
           ${single ? isFirst : sql`false`} as is_first,
           ${single && caller ? isSubscribed(mergeRequestKind, caller.id, 'shown') : sql`false`} as subscribed
      from unnest(${ofAnyLength(slots.ids, 'bigint[]')}) with ordinality asked(id, place)
           join merge_requests shown on shown.id = asked.id
           join projects target on target.id = shown.project_id
           left join users authors on authors.id = shown.author_id
           left join users closers on closers.id = shown.closed_by_id
           left join users mergers on mergers.id = shown.merge_user_id
     order by asked.place`;
});

/**
 * Merge requests by id, in the given order, without deleted ones. Does not check whether the caller may read them.
 * @param single whether to read the columns that only a single one needs
 */
export const mergeRequestRows = async (
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
  single: boolean,
): Promise<MergeRequestRow[]> =>
  ids.length === 0
    ? []
    : mergeRequestsById(
        db,
        { ids, caller_id: caller?.id ?? 0 },
        { signed_in: caller !== undefined, admin: caller?.admin ?? false, external: caller?.external ?? false, single },
      );
