/** How to-dos appear in replies (labels-milestones-iterations-epics.md section 7). */
import { type Static, Type } from 'typebox';
import { type Caller, Id, nullable, optional, resource, type Services, Timestamp } from '../../../http/index.ts';
import { NamespaceBasic, presentNamespaceBasic } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { ProjectIdentity } from '../../spaces/projects/index.ts';
import { Epic, type EpicReply, presentEpics } from '../../work/epics/index.ts';
import { Issue, type IssueReply, presentIssues } from '../../work/issues/index.ts';
import type { TodoRow } from './queries.ts';

export const Todo = resource('Todo', {
  id: Id,
  project: optional(ProjectIdentity),
  group: optional(NamespaceBasic),
  author: nullable(UserBasic),
  action_name: Type.String(),
  target_type: Type.Enum(['Issue', 'Epic', 'Project', 'Namespace']),
  target: Type.Union([Issue, Epic, ProjectIdentity, NamespaceBasic]),
  target_url: Type.String(),
  body: Type.String({ description: 'The comment that it is about, or what its target is called' }),
  state: Type.Enum(['pending', 'done']),
  created_at: Timestamp,
  updated_at: Timestamp,
});
type TodoReply = Static<typeof Todo>;

/** What the to-dos of a page are about, by id. */
interface Targets {
  issues: Map<number, IssueReply>;
  epics: Map<number, EpicReply>;
}

const byId = <T extends { id: number }>(things: readonly T[]): Map<number, T> =>
  new Map(things.map((thing) => [thing.id, thing]));

type Aim = Pick<TodoReply, 'target_type' | 'target' | 'target_url' | 'body'>;

/** What a to-do leads to: an issue, an epic, or the page where a request is decided on; undefined for what has just been removed. */
function aimOf(url: string, { issue_id, epic_id, project, group }: TodoRow, { issues, epics }: Targets): Aim | undefined {
  const issue = issues.get(issue_id ?? 0);
  if (issue) return { target_type: 'Issue', target: issue, target_url: issue.web_url, body: issue.title };
  const epic = epics.get(epic_id ?? 0);
  if (epic) return { target_type: 'Epic', target: epic, target_url: epic.web_url, body: epic.title };
  if (issue_id !== null || epic_id !== null) return undefined;
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
 * To-dos as replies, with a fixed number of statements however many there are.
 * @param caller whose they are; he may read what they are about
 */
export async function presentTodos(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: Caller,
  rows: readonly TodoRow[],
): Promise<TodoReply[]> {
  const targets = {
    issues: byId(await presentIssues({ db, url }, caller, [...new Set(rows.flatMap(({ issue_id }) => issue_id ?? []))])),
    epics: byId(await presentEpics({ db, url }, caller, [...new Set(rows.flatMap(({ epic_id }) => epic_id ?? []))])),
  };
  return rows.flatMap((row) => {
    const aim = aimOf(url, row, targets);
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
