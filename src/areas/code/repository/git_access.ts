/** Who may fetch and push: the credentials of git clients, and the refusals that they print (docs/reference/repository.md). */
import { access } from 'node:fs/promises';
import type { FastifyRequest, RouteGenericInterface } from 'fastify';
import {
  basicRefused,
  callerOfBasic,
  gitScopes,
  isCollaborator,
  levels,
  type MaybeCaller,
  mayDownloadCode,
  mayRead,
  movedProject,
  type Project,
  projectFor,
  type Snippet,
} from '../../../access/index.ts';
import {
  GitBusy,
  type Repository,
  type RepositoryOwner,
  repositoryOf,
  type Service,
  SlowReader,
  type SnippetPlace,
} from '../../../git/index.ts';
import { ApiError, type Caller, type Identification, type Services } from '../../../http/index.ts';
import { readOnlyRefusal, refusal } from './rules.ts';
import { grantSnippet, refuseSnippetPush } from './snippet_access.ts';

/** The project, or that of the snippet, has another path now. git follows a redirect of its first request and sends all others there, too. */
export class MovedGit extends ApiError {
  readonly full_path: string;
  constructor(full_path: string) {
    super(404, { message: `The project has moved to ${full_path}.` });
    this.full_path = full_path;
  }
}

/** The code of a project. */
export interface ProjectAccess {
  project: Project;
  snippet?: undefined;
  caller: MaybeCaller;
}

/** A snippet, with its project if it has one. */
export interface SnippetAccess {
  project: Project | undefined;
  snippet: Snippet;
  place: SnippetPlace;
  caller: MaybeCaller;
}

export type GitAccess = ProjectAccess | SnippetAccess;

const isPush = (service: Service) => service === 'git-receive-pack';

/**
 * Who calls, for a service.
 * @param serviceOf the service that a request asks for; may refuse it
 */
export const gitCaller = <R extends RouteGenericInterface>(
  serviceOf: (request: FastifyRequest<R>) => Service,
): Identification<Caller, R> => ({
  identify: callerOfBasic,
  scopes: (request) => gitScopes[isPush(serviceOf(request)) ? 'upload' : 'download'],
  insufficient: (request) => refusal(403, `You are not allowed to ${isPush(serviceOf(request)) ? 'upload' : 'download'} code.`),
});

/** What a client is told that was granted a repository, and that git does not serve now. */
export function unservedRefusal(error: unknown): ApiError | undefined {
  if (error instanceof GitBusy)
    return new ApiError(503, { message: 'The server is too busy. Try again later.' }, { 'retry-after': '10' });
  return error instanceof SlowReader ? refusal(408, 'The reply was read too slowly.') : undefined;
}

async function refusePush({ db }: Services, caller: Caller, project: Project): Promise<void> {
  if (project.access_level < levels.developer && !(await isCollaborator(db, caller, project)))
    throw refusal(403, 'You are not allowed to push code to this project.');
  if (project.read_only) throw refusal(403, readOnlyRefusal(project));
}

/**
 * Checks that a caller may use a git service on a project or a snippet.
 * @param path the full path of the project, or what docs/reference/snippets.md says for a snippet
 * @throws ApiError with the status and text that docs/reference/repository.md and docs/reference/snippets.md list
 */
export async function grantGit(services: Services, caller: MaybeCaller, path: string, service: Service): Promise<GitAccess> {
  const granted = await grantSnippet(services, caller, path);
  if (!granted) return grantProject(services, caller, path, service);
  if (!caller && isPush(service)) throw basicRefused(services.url);
  if (isPush(service)) refuseSnippetPush(granted);
  if (granted.moved_to !== undefined) throw new MovedGit(granted.moved_to);
  const { snippet, project } = granted;
  return { snippet, project, caller, place: { snippet_id: snippet.id, storage: snippet.storage } };
}

async function grantProject(services: Services, caller: MaybeCaller, path: string, service: Service): Promise<ProjectAccess> {
  const here = await projectFor(services.db, caller, path);
  const moved = here ? undefined : await movedProject(services.db, caller, path);
  const project = here ?? moved;
  if (!caller) {
    // Callers who may not read the project must not learn that it exists.
    if (service === 'git-upload-pack' && project && mayRead(caller, project) && mayDownloadCode(project))
      return accessTo(project, caller, moved);
    throw basicRefused(services.url);
  }
  if (!project || !mayRead(caller, project))
    throw refusal(404, "The project you were looking for could not be found or you don't have permission to view it.");
  if (!mayDownloadCode(project)) throw refusal(403, 'You are not allowed to download code from this project.');
  if (isPush(service)) await refusePush(services, caller, project);
  return accessTo(project, caller, moved);
}

/** @throws MovedGit when the project has moved to another path */
function accessTo(project: Project, caller: MaybeCaller, moved: Project | undefined): ProjectAccess {
  if (moved) throw new MovedGit(moved.full_path);
  return { project, caller };
}

/** As `grantGit` for pushing, which always has a caller. */
export async function grantPush(services: Services, caller: MaybeCaller, path: string): Promise<GitAccess & { caller: Caller }> {
  const granted = await grantGit(services, caller, path, 'git-receive-pack');
  if (!caller) throw basicRefused(services.url);
  return { ...granted, caller };
}

/**
 * The repository of what was granted.
 * @throws ApiError 404 when it is missing on disk
 */
export async function repositoryFor(services: Services, granted: GitAccess): Promise<Repository> {
  const [owner, kind]: [RepositoryOwner, string] =
    granted.snippet === undefined ? [granted.project, 'project'] : [granted.place, 'snippet'];
  const repository = repositoryOf(services, owner);
  try {
    await access(repository.path);
  } catch {
    throw refusal(404, `A repository for this ${kind} does not exist yet.`);
  }
  return repository;
}
