/** To-dos as replies need them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Static } from 'typebox';
import { isMemberOfGroup, isMemberOfProject, isVisibleEpic, isVisibleIssue, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import type { NamespaceRow } from '../../people/namespaces/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { type ProjectIdentity, projectIdentityJson } from '../../spaces/projects/index.ts';

export interface TodoRow {
  id: number;
  action_name: string;
  state: 'pending' | 'done';
  created_at: string;
  updated_at: string;
  issue_id: number | null;
  epic_id: number | null;
  note_id: number | null;
  note_body: string | null;
  author: UserBasicRow | null;
  project: Static<typeof ProjectIdentity> | null;
  group: NamespaceRow | null;
}

const isPlanner = (caller: Caller): RawBuilder<SqlBool> =>
  sql`(${sql.lit(caller.admin)} or ${isMemberOfProject(caller, levels.planner)} or ${isMemberOfGroup(caller, levels.planner)})`;

/** A predicate on rows of `todos` beside what they are about: the caller may still read it, or decide on it. */
const isShown = (caller: Caller): RawBuilder<SqlBool> => sql`
  case when todos.issue_id is not null then ${isVisibleIssue(caller)}
       when todos.epic_id is not null then ${isVisibleEpic(caller)}
       else ${sql.lit(caller.admin)} or ${isMemberOfProject(caller, levels.maintainer)} or ${isMemberOfGroup(caller, levels.owner)} end
  and (notes.internal is not true or ${isPlanner(caller)})`;

const group = sql<TodoRow['group']>`
  case when namespaces.id is not null then jsonb_build_object(
    'id', namespaces.id, 'name', namespaces.name, 'path', namespaces.path, 'kind', namespaces.kind,
    'full_path', namespaces.full_path, 'parent_id', namespaces.parent_id) end`;

/** What somebody has to do, and has done, as far as he may read what it is about. */
export const todosOf = (db: Database, caller: Caller) =>
  db
    .selectFrom('todos')
    .leftJoin('issues', 'issues.id', 'todos.issue_id')
    .leftJoin('epics', 'epics.id', 'todos.epic_id')
    .leftJoin('notes', 'notes.id', 'todos.note_id')
    .leftJoin('projects', 'projects.id', 'todos.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'todos.group_id')
    .leftJoin('users as authors', 'authors.id', 'todos.author_id')
    .select(['todos.id', 'todos.action_name', 'todos.created_at', 'todos.updated_at', 'todos.issue_id', 'todos.epic_id'])
    .select(['todos.note_id', 'notes.body as note_body'])
    .select(sql<TodoRow['state']>`todos.state`.as('state'))
    .select(sql<UserBasicRow | null>`case when authors.id is not null then ${userBasicJson('authors')} end`.as('author'))
    .select([projectIdentityJson.as('project'), group.as('group')])
    .where('todos.user_id', '=', caller.id)
    .where(isShown(caller) as RawBuilder<boolean>);
