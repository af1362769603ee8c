/** Who may fetch and push a snippet: `<project path>/snippets/<id>.git`, and `snippets/<id>.git` for a personal one (docs/reference/snippets.md). */
import {
  basicRefused,
  type GrantedSnippet,
  type MaybeCaller,
  mayChangeSnippet,
  mayRead,
  mayReadSnippet,
  mayUse,
  movedProject,
  type Project,
  projectFor,
  snippetFor,
} from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { readOnlyRefusal, refusal } from './rules.ts';

/** The path of a snippet in its project, or alone. */
const address = /^(?:(?<project>.+)\/)?snippets\/(?<id>\d+)$/;

export interface SnippetInPath extends GrantedSnippet<MaybeCaller> {
  /** The path of the snippet now, if its project has moved. */
  moved_to?: string;
}

/**
 * The snippet that a path names, if the caller may fetch it.
 * @param path without `.git`
 * @returns undefined when the path is not one of a snippet
 * @throws ApiError 401, 403 or 404 with the texts of docs/reference/snippets.md
 */
export async function grantSnippet(services: Services, caller: MaybeCaller, path: string): Promise<SnippetInPath | undefined> {
  const named = address.exec(path)?.groups;
  if (!named) return undefined;
  const at = await projectAt(services, caller, named.project);
  if (!at) return undefined;
  const { project, moved } = at;
  const snippet = await snippetFor(services.db, Number(named.id));
  const isThere = snippet !== undefined && snippet.project_id === (project?.id ?? null);
  const isOpen = !project || (mayRead(caller, project) && mayUse(project, 'snippets'));
  if (!isThere || !isOpen || !mayReadSnippet(caller, snippet, project))
    throw caller ? refusal(404, 'The snippet you were looking for could not be found.') : basicRefused(services.url);
  // They are given the code of a project, and nothing else.
  if (caller?.deploys) throw refusal(403, 'The authentication mechanism is not supported.');
  return { caller, snippet, project, ...(moved && project ? { moved_to: `${project.full_path}/snippets/${snippet.id}` } : {}) };
}

/** The project before the snippet, under its present path or a former one; none for a personal snippet. Undefined when there is no such project. */
async function projectAt(
  { db }: Services,
  caller: MaybeCaller,
  path: string | undefined,
): Promise<{ project: Project | undefined; moved: boolean } | undefined> {
  if (path === undefined) return { project: undefined, moved: false };
  const here = await projectFor(db, caller, path);
  const project = here ?? (await movedProject(db, caller, path));
  return project && { project, moved: !here };
}

/** @throws ApiError 403 when a caller who may fetch a snippet may not push to it */
export function refuseSnippetPush({
  caller,
  snippet,
  project,
}: Pick<GrantedSnippet<MaybeCaller>, 'caller' | 'snippet' | 'project'>): void {
  if (!caller || !mayChangeSnippet(caller, snippet, project)) throw refusal(403, 'You are not allowed to update this snippet.');
  if (project?.read_only) throw refusal(403, readOnlyRefusal(project));
}
