/** Events that a caller may see, as replies need them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  countsToday,
  isDownloadable,
  isMemberOfProject,
  isUsable,
  isVisibleIssue,
  isVisibleProject,
  levels,
  type MaybeCaller,
  mergeRequestKind,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import type { Push } from './push_actions.ts';

/** What events need to know of comments, which this area does not import. */
export interface CommentedOn {
  /** A predicate on rows of `events`: the target is a comment that the caller may read. */
  isVisible(caller: MaybeCaller): RawBuilder<SqlBool>;
  /** Of rows of `events` whose target is a comment: the title of what is commented on. */
  title: RawBuilder<string | null>;
}

// PostgreSQL turns `exists` into a hash of all rows of the table, since it expects to ask for all events of the project; a value can only be looked up.

/** The issue of an event, if it still exists and the caller may read it. */
const isReadableIssue = (caller: MaybeCaller) => sql<SqlBool>`
  coalesce((select ${isVisibleIssue(caller)} from issues join projects on projects.id = issues.project_id where issues.id = events.target_id), false)`;

const isReadableMergeRequest = (caller: MaybeCaller) => sql<SqlBool>`
  coalesce((select ${mergeRequestKind.isVisible(caller)} from merge_requests join projects on projects.id = merge_requests.project_id
             where merge_requests.id = events.target_id), false)`;

const isReadableSnippet = (caller: MaybeCaller) => sql<SqlBool>`
  (${isUsable(caller, 'snippets')} and coalesce((
    select snippets.visibility = 'public' or ${caller && !caller.external ? sql`snippets.visibility = 'internal'` : sql`false`}
           or ${caller?.admin ? sql`true` : isMemberOfProject(caller, 1)}
      from snippets where snippets.id = events.target_id), false))`;

/** An error of an application, which the Reporter role allows to read. */
const isReadableError = (caller: MaybeCaller) => sql<SqlBool>`
  (${caller?.admin ? sql`true` : isMemberOfProject(caller, levels.reporter)} and coalesce((
    select errors.project_id = events.project_id from error_tracking_errors errors where errors.id = events.target_id), false))`;

/** A predicate on rows of `events` joined with `projects`: the caller may see the event. What has been deleted can no longer be read. */
export const isVisibleEvent = (caller: MaybeCaller, comments: CommentedOn) => sql<boolean>`
  (${isVisibleProject(caller)} and case
     when events.action = 'pushed' then ${isDownloadable(caller)}
     when events.target_type = 'Project' then true
     when events.target_type in ('Issue', 'WorkItem') then ${isReadableIssue(caller)}
     when events.target_type = 'MergeRequest' then ${isReadableMergeRequest(caller)}
     when events.target_type = 'Milestone' then (${isUsable(caller, 'issues')} or ${isUsable(caller, 'merge_requests')})
     when events.target_type = 'Snippet' then ${isReadableSnippet(caller)}
     when events.target_type in ('Note', 'DiscussionNote', 'DiffNote') then ${comments.isVisible(caller)}
     when events.target_type = 'TrackedError' then ${isReadableError(caller)}
     else false end)`;

const title = ({ title }: CommentedOn) => sql<string | null>`
  case when events.target_type in ('Issue', 'WorkItem') then (select issues.title from issues where issues.id = events.target_id)
       when events.target_type = 'MergeRequest' then (select merge_requests.title from merge_requests where merge_requests.id = events.target_id)
       when events.target_type = 'Milestone' then (select milestones.title from milestones where milestones.id = events.target_id)
       when events.target_type = 'Snippet' then (select snippets.title from snippets where snippets.id = events.target_id)
       when events.target_type = 'Project' then projects.name
       when events.target_type = 'TrackedError' then (select errors.name from error_tracking_errors errors where errors.id = events.target_id)
       when events.target_type in ('Note', 'DiscussionNote', 'DiffNote') then ${title} end`;

const number = sql<number | null>`
  case when events.target_type in ('Issue', 'WorkItem') then (select issues.iid from issues where issues.id = events.target_id)
       when events.target_type = 'MergeRequest' then (select merge_requests.iid from merge_requests where merge_requests.id = events.target_id)
       when events.target_type = 'Milestone' then (select milestones.iid from milestones where milestones.id = events.target_id) end`;

const push = sql<Push | null>`
  (select jsonb_build_object('commit_count', commit_count, 'action', push.action, 'ref_type', ref_type, 'commit_from', commit_from,
                             'commit_to', commit_to, 'ref', ref, 'commit_title', commit_title, 'ref_count', ref_count)
     from push_event_payloads push where push.event_id = events.id)`;

/** The events of projects, whether a caller may see them or not. */
export const eventsWith = (db: Database, comments: CommentedOn) =>
  db
    .selectFrom('events')
    .innerJoin('projects', 'projects.id', 'events.project_id')
    .leftJoin('users as authors', 'authors.id', 'events.author_id')
    .select(['events.id', 'events.project_id', 'events.action', 'events.target_type', 'events.target_id'])
    .select(['events.author_id', 'events.imported_from', 'events.created_at'])
    .select([title(comments).as('target_title'), number.as('target_iid'), push.as('push')])
    .select(sql<UserBasicRow>`${userBasicJson('authors')}`.as('author'));

export type EventQuery = ReturnType<typeof eventsWith>;
export type EventRow = Awaited<ReturnType<EventQuery['executeTakeFirstOrThrow']>>;

/** A predicate on rows of `events`: they are of projects that the caller is a member of. */
export const isOfMembership = (caller: Caller) => sql<boolean>`
  events.project_id in (select project_id from project_authorizations where user_id = ${caller.id} and ${countsToday()})`;

/**
 * The highest id up to which every event is committed or will never be. A transaction that is recording events holds a shared lock on a number which all their ids are above
 * (`announce_events` in migrations/0382), and releases it after its rows have become visible.
 *
 * The sequence is read before the locks, which the lateral join ensures: what takes a lock after that has ids above the sequence's. The rows have to be read by a
 * later statement. Keys of locks have 32 bits: those of numbers above the sequence's are recognized by their distance.
 */
export async function lastSettledId(db: Database): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select least(last_value, announced.id) as id
      from events_id_seq, lateral (
        select min(last_value - distance) as id
          from pg_locks, lateral (select (last_value - objid::bigint) & 4294967295 as distance) behind
         where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
           and classid = 726674 and objsubid = 2 and distance < 2147483648) announced`.execute(db);
  return rows[0]!.id;
}
