/** Queries for to-do items in replies. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Static } from 'typebox';
import {
  commitKind,
  type IssuableColumn,
  type IssuableKind,
  isMemberOfGroup,
  isMemberOfProject,
  issuableKinds,
  levels,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import {
  type NamespaceRow,
  namespaceAvatar,
  type ProjectIdentity,
  projectIdentityJson,
} from '../../people/namespaces/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';

export interface TodoRow extends Record<IssuableColumn, number | null> {
  id: number;
  project_id: number | null;
  commit_id: string | null;
  action_name: string;
  state: 'pending' | 'done';
  created_at: string;
  updated_at: string;
  note_id: number | null;
  placeholder_id: number | null;
  note_body: string | null;
  author: UserBasicRow | null;
  project: Static<typeof ProjectIdentity> | null;
  group: NamespaceRow | null;
}

/** What to-do queries need of the comments that mention users. Expressions on rows of `todos` with a `note_id`. */
export interface TodoComments {
  body: RawBuilder<string | null>;
  isInternal: RawBuilder<SqlBool>;
}

const isPlanner = (caller: Caller): RawBuilder<SqlBool> =>
  sql`(${sql.lit(caller.admin)} or ${isMemberOfProject(caller, levels.planner)} or ${isMemberOfGroup(caller, levels.planner)})`;

const isVisibleTarget = (caller: Caller, { table, column, isVisible }: IssuableKind) => sql`
  when ${sql.ref(`todos.${column}`)} is not null
  then (select ${isVisible(caller)} from ${sql.table(table)} where ${sql.ref(`${table}.id`)} = ${sql.ref(`todos.${column}`)})`;

/**
 * A predicate on rows of `todos` joined with their targets: the caller may still read the target, decide on the
 * request, or is the one who is asked.
 */
const isShown = (caller: Caller, { isInternal }: TodoComments): RawBuilder<SqlBool> => sql`
  case ${sql.join(
    issuableKinds.map((kind) => isVisibleTarget(caller, kind)),
    sql` `,
  )}
  when todos.commit_id is not null then ${commitKind.isVisible(caller)}
  when todos.placeholder_id is not null then true
  else ${sql.lit(caller.admin)} or ${isMemberOfProject(caller, levels.maintainer)} or ${isMemberOfGroup(caller, levels.owner)} end
  and (${isInternal} is not true or ${isPlanner(caller)})`;

const group = sql<TodoRow['group']>`
  case when namespaces.id is not null then jsonb_build_object(
    'id', namespaces.id, 'name', namespaces.name, 'path', namespaces.path, 'kind', namespaces.kind,
    'full_path', namespaces.full_path, 'parent_id', namespaces.parent_id, 'avatar_path', ${namespaceAvatar()}) end`;

/** The pending and done to-do items of the caller whose targets they may read. */
export const todosOf = (db: Database, caller: Caller, comments: TodoComments) =>
  db
    .selectFrom('todos')
    .leftJoin('projects', 'projects.id', 'todos.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'todos.group_id')
    .leftJoin('users as authors', 'authors.id', 'todos.author_id')
    .select(['todos.id', 'todos.action_name', 'todos.created_at', 'todos.updated_at'])
    .select(issuableKinds.map(({ column }) => `todos.${column}` as const))
    .select([
      'todos.project_id',
      'todos.commit_id',
      'todos.note_id',
      'todos.placeholder_id',
      comments.body.as('note_body'),
    ])
    .select(sql<TodoRow['state']>`todos.state`.as('state'))
    .select(
      sql<UserBasicRow | null>`case when authors.id is not null then ${userBasicJson('authors')} end`.as('author'),
    )
    .select([projectIdentityJson.as('project'), group.as('group')])
    .where('todos.user_id', '=', caller.id)
    .where(isShown(caller, comments) as RawBuilder<boolean>);

/** The number of pending to-do items of the caller. */
export async function countPending(db: Database, caller: Caller, comments: TodoComments): Promise<number> {
  const pending = todosOf(db, caller, comments).where('todos.state', '=', 'pending').clearSelect();
  return (await pending.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count;
}
