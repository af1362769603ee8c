/** How to-do items appear in replies (docs/reference/todos.md). */
import { type Static, type TSchema, Type } from 'typebox';
import { type Issuable, type IssuableKind, issuableKinds, noteableOf } from '../../../access/index.ts';
import { type Caller, Id, nullable, optional, resource, type Services, Timestamp } from '../../../http/index.ts';
import { NamespaceBasic, ProjectIdentity, presentNamespaceBasic } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import type { TodoRow } from './queries.ts';

/** A kind of target. Its own area, which this one does not import, says how it appears. */
export interface TodoTarget {
  kind: IssuableKind;
  schema: TSchema;
  /** The replies for these ids, which the caller may read, without deleted ones. */
  present(
    services: Pick<Services, 'db' | 'url'>,
    caller: Caller,
    ids: readonly number[],
  ): Promise<readonly { id: number; title: string; web_url: string }[]>;
}

const todoFields = {
  id: Id,
  project: optional(ProjectIdentity),
  group: optional(NamespaceBasic),
  author: nullable(UserBasic),
  action_name: Type.String(),
  target_type: Type.Enum([...issuableKinds.map(({ type }) => type), 'Project', 'Namespace']),
  target_url: Type.String(),
  body: Type.String({ description: 'The comment, or the title of the target' }),
  state: Type.Enum(['pending', 'done']),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** To-do items on these targets or on access requests. */
export const todoForm = (targets: readonly TodoTarget[]) => {
  const { id, project, group, author, action_name, target_type, ...rest } = todoFields;
  const target: TSchema = Type.Union([...targets.map(({ schema }) => schema), ProjectIdentity, NamespaceBasic]);
  return resource('Todo', { id, project, group, author, action_name, target_type, target, ...rest });
};
type TodoReply = Static<ReturnType<typeof todoForm>>;

type Aim = Pick<TodoReply, 'target_type' | 'target' | 'target_url' | 'body'>;

/** The target of a to-do item on an issue or epic. */
type Aims = (noteable: Issuable) => Aim | undefined;

/** The targets of a page of to-do items, with one query for each kind. */
async function aimsOf(
  services: Pick<Services, 'db' | 'url'>,
  caller: Caller,
  targets: readonly TodoTarget[],
  rows: readonly TodoRow[],
): Promise<Aims> {
  const aims = new Map<IssuableKind, Map<number, Aim>>();
  for (const { kind, present } of targets) {
    const ids = [...new Set(rows.flatMap((row) => row[kind.column] ?? []))];
    const shown = ids.length > 0 ? await present(services, caller, ids) : [];
    const aim = (target: (typeof shown)[number]): Aim => ({
      target_type: kind.type,
      target,
      target_url: target.web_url,
      body: target.title,
    });
    aims.set(kind, new Map(shown.map((target) => [target.id, aim(target)])));
  }
  return ({ kind, id }) => aims.get(kind)?.get(id);
}

/** The target of a to-do item: an issue, an epic, or the page where an access request is decided; undefined for one that was just deleted. */
function aimOf(url: string, row: TodoRow, aims: Aims): Aim | undefined {
  const noteable = noteableOf(issuableKinds, row);
  if (noteable) return aims(noteable);
  const { project, group } = row;
  if (project) {
    const body = project.path_with_namespace;
    return { target_type: 'Project', target: project, target_url: `${url}/${body}/-/project_members?tab=access_requests`, body };
  }
  const target = presentNamespaceBasic(url, group!);
  return {
    target_type: 'Namespace',
    target,
    target_url: `${target.web_url}/-/group_members?tab=access_requests`,
    body: target.full_path,
  };
}

/**
 * To-do items as replies, with a fixed number of statements for any number of items.
 * @param caller their owner, who may read their targets
 */
export async function presentTodos(
  services: Pick<Services, 'db' | 'url'>,
  caller: Caller,
  targets: readonly TodoTarget[],
  rows: readonly TodoRow[],
): Promise<TodoReply[]> {
  const { url } = services;
  const aims = await aimsOf(services, caller, targets, rows);
  return rows.flatMap((row) => {
    const aim = aimOf(url, row, aims);
    if (!aim) return [];
    const { id, action_name, state, created_at, updated_at, note_id, note_body } = row;
    return {
      id,
      ...(row.project ? { project: row.project } : {}),
      ...(row.group ? { group: presentNamespaceBasic(url, row.group) } : {}),
      author: row.author && presentUserBasic(url, row.author),
      action_name,
      ...aim,
      ...(note_id === null ? {} : { target_url: `${aim.target_url}#note_${note_id}`, body: note_body ?? '' }),
      ...{ state, created_at, updated_at },
    };
  });
}
