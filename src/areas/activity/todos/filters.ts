/** The filters of the to-do list. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { issuableKinds } from '../../../access/index.ts';
import { Id, IdOf, optional } from '../../../http/index.ts';

const actions = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
  'merge_train_removed',
  'member_access_requested',
  'review_requested',
  'placeholder_proposed',
];

/** The kinds of targets; kinds that this server does not have match nothing. */
const types = [
  'Issue',
  'MergeRequest',
  'Commit',
  'Epic',
  'DesignManagement::Design',
  'AlertManagement::Alert',
  'Project',
  'Namespace',
  'Vulnerability',
  'WikiPage::Meta',
];

export const todoFilters = {
  action: optional(Type.Enum(actions)),
  author_id: optional(Id),
  project_id: optional(Id),
  group_id: optional(IdOf({ description: 'ID of a group; includes its subgroups and their projects' })),
  state: Type.Enum(['pending', 'done'], { default: 'pending' }),
  type: optional(Type.Enum(types)),
};
type Wanted = Static<TObject<typeof todoFilters>>;

const isOfType: Readonly<Record<string, RawBuilder<SqlBool>>> = {
  ...Object.fromEntries(
    issuableKinds.map(({ type, column }) => [type, sql<SqlBool>`${sql.ref(`todos.${column}`)} is not null`]),
  ),
  Commit: sql`todos.commit_id is not null`,
  Project: sql`(todos.action_name = 'member_access_requested' and todos.project_id is not null)`,
  Namespace: sql`(todos.action_name in ('member_access_requested', 'placeholder_proposed') and todos.group_id is not null)`,
};

const isBelow = (group_id: number) =>
  sql`coalesce(projects.namespace_id, todos.group_id) in (select id from namespaces place where place.traversal_ids @> ${[group_id]}::bigint[])`;

/** A predicate on rows of `todosOf`. */
export function isWanted({ action, author_id, project_id, group_id, state, type }: Wanted): RawBuilder<boolean> {
  const tests: RawBuilder<unknown>[] = [sql`todos.state = ${state}`];
  if (action !== undefined) tests.push(sql`todos.action_name = ${action}`);
  if (author_id !== undefined) tests.push(sql`todos.author_id = ${author_id}`);
  if (project_id !== undefined) tests.push(sql`todos.project_id = ${project_id}`);
  if (group_id !== undefined) tests.push(isBelow(group_id));
  if (type !== undefined) tests.push(isOfType[type] ?? sql`false`);
  return sql`(${sql.join(tests, sql` and `)})`;
}
