/** Who may fetch and push: the credentials of git clients, and the refusals that they show to people (repository.md section 6). */
import type { FastifyRequest } from 'fastify';
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
import type { Service } from '../../../git/index.ts';
import { ApiError, type Caller, type Services } from '../../../http/index.ts';
import { readOnlyRefusal } from './rules.ts';

/** A reply to a git client, which shows the text to its user. */
export class GitRefusal extends Error {
  override name = 'GitRefusal';
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(status: number, text: string, headers: Record<string, string> = {}) {
    super(text);
    this.status = status;
    this.headers = headers;
  }
}

/** The project has another path now. git follows a redirection of its first request, and sends all others there, too. */
export class MovedGit extends GitRefusal {
  readonly full_path: string;
  constructor(full_path: string) {
    super(404, `The project has moved to ${full_path}.`);
    this.full_path = full_path;
  }
}

export interface GitAccess {
  project: Project;
  caller: MaybeCaller;
}

const refusalOf = ({ status, body, headers }: ApiError) => new GitRefusal(status, (body as { message: string }).message, headers);

const accessDenied = (url: string) => refusalOf(basicRefused(url));

async function callerOf(services: Services, request: FastifyRequest): Promise<MaybeCaller> {
  try {
    return await callerOfBasic(services, request);
  } catch (error) {
    throw error instanceof ApiError ? refusalOf(error) : error;
  }
}

function refuseScope({ token }: Caller, service: Service): void {
  const isPush = service === 'git-receive-pack';
  if (gitScopes[isPush ? 'upload' : 'download'].some((scope) => token.scopes.includes(scope))) return;
  throw new GitRefusal(403, isPush ? 'You are not allowed to upload code.' : 'You are not allowed to download code.');
}

function refusePush(project: Project): void {
  if (project.access_level < levels.developer) throw new GitRefusal(403, 'You are not allowed to push code to this project.');
  if (project.read_only) throw new GitRefusal(403, readOnlyRefusal(project));
}

/**
 * Whoever may use a service on a project.
 * @param path the project's full path
 * @throws GitRefusal with the status and text that repository.md section 6 lists
 */
export async function grantGit(services: Services, request: FastifyRequest, path: string, service: Service): Promise<GitAccess> {
  const caller = await callerOf(services, request);
  if (caller) refuseScope(caller, service);
  const here = await projectFor(services.db, caller, path);
  const moved = here ? undefined : await movedProject(services.db, caller, path);
  const project = here ?? moved;
  if (!caller) {
    // Whether there is such a project is nobody's business who may not read it.
    if (service === 'git-upload-pack' && project && mayRead(caller, project) && mayDownloadCode(project))
      return placeOf(project, caller, moved);
    throw accessDenied(services.url);
  }
  if (!project || !mayRead(caller, project))
    throw new GitRefusal(404, "The project you were looking for could not be found or you don't have permission to view it.");
  if (!mayDownloadCode(project)) throw new GitRefusal(403, 'You are not allowed to download code from this project.');
  if (service === 'git-receive-pack') refusePush(project);
  return placeOf(project, caller, moved);
}

/** @throws MovedGit when the project is not where the client looked for it */
function placeOf(project: Project, caller: MaybeCaller, moved: Project | undefined): GitAccess {
  if (moved) throw new MovedGit(moved.full_path);
  return { project, caller };
}

/** As `grantGit` for pushing, where somebody always calls. */
export async function grantPush(
  services: Services,
  request: FastifyRequest,
  path: string,
): Promise<GitAccess & { caller: Caller }> {
  const { project, caller } = await grantGit(services, request, path, 'git-receive-pack');
  if (!caller) throw accessDenied(services.url);
  return { project, caller };
}
