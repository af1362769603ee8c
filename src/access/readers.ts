/** The other way round: not what somebody may read, but who may read something. For those who are to be told of it. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { countsInGroup } from './groups.ts';
import { levels } from './levels.ts';
import { isGroup, isProject } from './states.ts';

const counts = sql`(expires_at is null or expires_at > current_date)`;

const isMember = (level: number) => sql<SqlBool>`exists (
  select from project_authorizations where user_id = users.id and project_id = projects.id and access_level >= ${level} and ${counts})`;

const isGroupMember = (level: number) => sql<SqlBool>`exists (
  select from group_authorizations where user_id = users.id and group_id = namespaces.id and access_level >= ${level} and ${counts})`;

/** What is open to everybody, or to everybody but external users. */
const isShown = (table: 'projects' | 'namespaces') => sql<SqlBool>`
  (${sql.ref(`${table}.visibility`)} = 'public' or (${sql.ref(`${table}.visibility`)} = 'internal' and not users.external))`;

/** A predicate on rows of `users`: the user may read the issue, as `mayReadIssue` says for one caller. */
const readsIssue = (issue_id: number) => sql<SqlBool>`exists (
  select from issues join projects on projects.id = issues.project_id
   where issues.id = ${issue_id}
     and case when users.admin then projects.issues_access_level <> 'disabled' else
           (projects.issues_access_level = 'enabled' or (projects.issues_access_level = 'private' and ${isMember(levels.guest)}))
           and (${isMember(1)} or (${isShown('projects')} and not ${isProject('marked_for_deletion')}))
           and (not issues.confidential or issues.author_id = users.id or ${isMember(levels.planner)}
                or exists (select from issue_assignees where issue_id = issues.id and user_id = users.id)) end)`;

/** Whoever is a member below a group may know of it, as `belongsToGroup` says for one caller. */
const belongsToGroup = sql<SqlBool>`exists (
  select from namespaces place where place.traversal_ids @> array[namespaces.id]
     and (place.id in (select group_id from group_authorizations where user_id = users.id and ${countsInGroup})
          or place.id in (select projects.namespace_id from project_authorizations join projects on projects.id = project_id
                           where user_id = users.id and ${counts})))`;

/** A predicate on rows of `users`: the user may read the epic, as `mayReadEpic` says for one caller. */
const readsEpic = (epic_id: number) => sql<SqlBool>`exists (
  select from epics join namespaces on namespaces.id = epics.group_id
   where epics.id = ${epic_id}
     and (users.admin or ((not epics.confidential or ${isGroupMember(levels.planner)})
          and ((${isShown('namespaces')} and not ${isGroup('marked_for_deletion')}) or ${belongsToGroup}))))`;

/** A predicate on rows of `users`: the user may read the issue or epic. */
export const isReaderOf = (target: { issue_id: number } | { epic_id: number }): RawBuilder<SqlBool> =>
  'issue_id' in target ? readsIssue(target.issue_id) : readsEpic(target.epic_id);

/** A predicate on rows of `users`: the user may read internal notes on it. */
export const readsInternalNotesOn = (target: { issue_id: number } | { epic_id: number }): RawBuilder<SqlBool> =>
  'issue_id' in target
    ? sql`(users.admin or exists (select from issues join projects on projects.id = issues.project_id
                                   where issues.id = ${target.issue_id} and ${isMember(levels.planner)}))`
    : sql`(users.admin or exists (select from epics join namespaces on namespaces.id = epics.group_id
                                   where epics.id = ${target.epic_id} and ${isGroupMember(levels.planner)}))`;
