/** Who may fetch and push: the credentials of git clients, and the refusals that they print (docs/reference/repository.md). */
import { access } from 'node:fs/promises';
import type { FastifyRequest, RouteGenericInterface } from 'fastify';
import {
  basicRefused,
  callerOfBasic,
  gitScopes,
  levels,
  type MaybeCaller,
  mayDownloadCode,
  mayRead,
  movedProject,
  type Project,
  projectFor,
} from '../../../access/index.ts';
import { type Repository, repositoryOf, type Service } from '../../../git/index.ts';
import { ApiError, type Caller, type Identification, type Services } from '../../../http/index.ts';
import { readOnlyRefusal } from './rules.ts';

/** A refusal to a git client, which shows the text to its user. */
export const refusal = (status: number, text: string): ApiError => new ApiError(status, { message: text });

/** The project has another path now. git follows a redirect of its first request and sends all others there, too. */
export class MovedGit extends ApiError {
  readonly full_path: string;
  constructor(full_path: string) {
    super(404, { message: `The project has moved to ${full_path}.` });
    this.full_path = full_path;
  }
}

export interface GitAccess {
  project: Project;
  caller: MaybeCaller;
}

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

function refusePush(project: Project): void {
  if (project.access_level < levels.developer) throw refusal(403, 'You are not allowed to push code to this project.');
  if (project.read_only) throw refusal(403, readOnlyRefusal(project));
}

/**
 * Checks that a caller may use a git service on a project.
 * @param path the project's full path
 * @throws ApiError with the status and text that docs/reference/repository.md lists
 */
export async function grantGit(services: Services, caller: MaybeCaller, path: string, service: Service): Promise<GitAccess> {
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
  if (isPush(service)) refusePush(project);
  return accessTo(project, caller, moved);
}

/** @throws MovedGit when the project has moved to another path */
function accessTo(project: Project, caller: MaybeCaller, moved: Project | undefined): GitAccess {
  if (moved) throw new MovedGit(moved.full_path);
  return { project, caller };
}

/** As `grantGit` for pushing, which always has a caller. */
export async function grantPush(services: Services, caller: MaybeCaller, path: string): Promise<GitAccess & { caller: Caller }> {
  const { project } = await grantGit(services, caller, path, 'git-receive-pack');
  if (!caller) throw basicRefused(services.url);
  return { project, caller };
}

/**
 * The repository of a project.
 * @throws ApiError 404 when it is missing on disk
 */
export async function repositoryFor(services: Services, project: Project): Promise<Repository> {
  const repository = repositoryOf(services, project);
  try {
    await access(repository.path);
  } catch {
    throw refusal(404, 'A repository for this project does not exist yet.');
  }
  return repository;
}
