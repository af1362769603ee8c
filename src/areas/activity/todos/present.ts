/** How to-do items appear in replies (docs/reference/todos.md). */
import { type Static, type TSchema, Type } from 'typebox';
import {
  type CommitKind,
  groupMembersPage,
  type IssuableKind,
  issuableKinds,
  noteableOf,
  projectMembersPage,
  proposalsPage,
} from '../../../access/index.ts';
import { type Caller, Id, nullable, optional, resource, type Services, Timestamp } from '../../../http/index.ts';
import { NamespaceBasic, ProjectIdentity, presentNamespaceBasic } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import type { TodoComments, TodoRow } from './queries.ts';

/** A kind of target. Its own area, which this one does not import, defines how it appears. */
export interface TodoTarget {
  kind: IssuableKind;
  schema: TSchema;
  /** The replies for these ids, which the caller may read; deleted ones are omitted. */
  present(
    services: Pick<Services, 'db' | 'url'>,
    caller: Caller,
    ids: readonly number[],
  ): Promise<readonly { id: number; title: string; web_url: string }[]>;
}

/** Commits as targets, described like a kind of rows. */
export interface CommitTarget {
  kind: CommitKind;
  schema: TSchema;
  /** The commits that still exist, by project and id as `commitKey` joins them. */
  present(
    services: Pick<Services, 'db' | 'storages' | 'url'>,
    commits: readonly CommitNamed[],
  ): Promise<ReadonlyMap<string, { title: string; web_url: string }>>;
}

interface CommitNamed {
  project_id: number;
  commit_id: string;
}

export const commitKey = ({ project_id, commit_id }: CommitNamed): string => `${project_id} ${commit_id}`;

/** All kinds of targets besides access requests. */
export interface TodoTargets {
  issuables: readonly TodoTarget[];
  commits: CommitTarget;
  comments: TodoComments;
}

const todoFields = {
  id: Id,
  project: optional(ProjectIdentity),
  group: optional(NamespaceBasic),
  author: nullable(UserBasic),
  action_name: Type.String(),
  target_type: Type.Enum([...issuableKinds.map(({ type }) => type), 'Commit', 'Project', 'Namespace']),
  target_url: Type.String(),
  body: Type.String({ description: 'The comment, or the title of the target' }),
  state: Type.Enum(['pending', 'done']),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** To-do items on these targets or on access requests. */
export const todoForm = ({ issuables, commits }: TodoTargets) => {
  const { id, project, group, author, action_name, target_type, ...rest } = todoFields;
  const target: TSchema = Type.Union([
    ...issuables.map(({ schema }) => schema),
    commits.schema,
    ProjectIdentity,
    NamespaceBasic,
  ]);
  return resource('Todo', { id, project, group, author, action_name, target_type, target, ...rest });
};
export type TodoForm = ReturnType<typeof todoForm>;
type TodoReply = Static<TodoForm>;

type Aim = Pick<TodoReply, 'target_type' | 'target' | 'target_url' | 'body'>;

/** The target of a to-do item on an issue, epic or commit; undefined for one that was just deleted, or for other items. */
type Aims = (row: TodoRow) => Aim | undefined;

/** The targets of a page of to-do items, with one query for each kind. */
async function aimsOf(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  caller: Caller,
  { issuables, commits }: TodoTargets,
  rows: readonly TodoRow[],
): Promise<Aims> {
  const aims = new Map<IssuableKind, Map<number, Aim>>();
  for (const { kind, present } of issuables) {
    const ids = [...new Set(rows.flatMap((row) => row[kind.column] ?? []))];
    const shown = ids.length > 0 ? await present(services, caller, ids) : [];
    aims.set(kind, new Map(shown.map((target) => [target.id, aimAt(kind, target)])));
  }
  const named = rows.flatMap((row) => commitNamed(row) ?? []);
  const shown = named.length > 0 ? await commits.present(services, named) : new Map<string, never>();
  return (row) => {
    const issuable = noteableOf(issuableKinds, row);
    if (issuable) return aims.get(issuable.kind)?.get(issuable.id);
    const commit = commitNamed(row);
    const target = commit && shown.get(commitKey(commit));
    return target && aimAt(commits.kind, target);
  };
}

const aimAt = (kind: IssuableKind | CommitKind, target: { title: string; web_url: string }): Aim => ({
  target_type: kind.type,
  target,
  target_url: target.web_url,
  body: target.title,
});

const commitNamed = ({ project_id, commit_id }: TodoRow): CommitNamed | undefined =>
  commit_id === null ? undefined : { project_id: project_id!, commit_id };

/** The target of a to-do item: an issue, an epic, a commit, or the page where an access request or a proposal is decided; undefined for one that was just deleted. */
function aimOf(url: string, row: TodoRow, aims: Aims): Aim | undefined {
  if (row.commit_id !== null || noteableOf(issuableKinds, row)) return aims(row);
  const { project, group } = row;
  if (project) {
    const body = project.path_with_namespace;
    return {
      target_type: 'Project',
      target: project,
      target_url: `${url}${projectMembersPage(body)}?tab=access_requests`,
      body,
    };
  }
  const target = presentNamespaceBasic(url, group!);
  return {
    target_type: 'Namespace',
    target,
    target_url:
      url + (row.placeholder_id === null ? `${groupMembersPage(target.full_path)}?tab=access_requests` : proposalsPage),
    body: target.full_path,
  };
}

/**
 * To-do items as replies, with a fixed number of statements for any number of items.
 * @param caller their owner, who may read their targets
 */
export async function presentTodos(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  caller: Caller,
  targets: TodoTargets,
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
      state,
      created_at,
      updated_at,
    };
  });
}
