/** Who may fetch and push: the credentials of git clients, and the refusals that they show to people (repository.md section 6). */
import type { FastifyRequest } from 'fastify';
import { callerOfToken, levels, type MaybeCaller, mayRead, mayReadCode, type Project, projectFor } from '../../access/index.ts';
import type { Service } from '../../git/index.ts';
import { ApiError, type Caller, type Services } from '../../http/index.ts';

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

export interface GitAccess {
  project: Project;
  caller: MaybeCaller;
}

const pullScopes = ['api', 'write_repository', 'read_repository'];
const pushScopes = ['api', 'write_repository'];

const accessDenied = (url: string) =>
  new GitRefusal(
    401,
    'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
      "you're required to use a token instead of a password. " +
      `If a token was provided, it was either incorrect, expired, or improperly scoped. See ${url}/docs`,
    { 'www-authenticate': 'Basic realm="Coppice"' },
  );

/** The token in the place of a password; undefined without credentials, empty when they are none that we take. */
function tokenOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined) return undefined;
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const [, user, token = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return user ? token : '';
}

async function callerOf(services: Services, request: FastifyRequest): Promise<MaybeCaller> {
  const token = tokenOf(request);
  if (token === undefined) return undefined;
  if (token === '') throw accessDenied(services.url);
  try {
    return await callerOfToken(services, token, request.ip);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) throw accessDenied(services.url);
    const { message } = error.body as { message: string };
    throw new GitRefusal(error.status, message.replace('403 Forbidden - ', ''));
  }
}

function refuseScope({ token }: Caller, service: Service): void {
  const isPush = service === 'git-receive-pack';
  if ((isPush ? pushScopes : pullScopes).some((scope) => token.scopes.includes(scope))) return;
  throw new GitRefusal(403, isPush ? 'You are not allowed to upload code.' : 'You are not allowed to download code.');
}

function refusePush(project: Project): void {
  if (project.access_level < levels.developer) throw new GitRefusal(403, 'You are not allowed to push code to this project.');
  if (project.archived) throw new GitRefusal(403, "You can't push code to an archived project.");
}

/**
 * Whoever may use a service on a project.
 * @param path the project's full path
 * @throws GitRefusal with the status and text that repository.md section 6 lists
 */
export async function grantGit(services: Services, request: FastifyRequest, path: string, service: Service): Promise<GitAccess> {
  const caller = await callerOf(services, request);
  if (caller) refuseScope(caller, service);
  const project = await projectFor(services.db, caller, path);
  if (!caller) {
    // Whether there is such a project is nobody's business who may not read it.
    if (service === 'git-upload-pack' && project && mayRead(caller, project) && mayReadCode(project)) return { project, caller };
    throw accessDenied(services.url);
  }
  if (!project || !mayRead(caller, project))
    throw new GitRefusal(404, "The project you were looking for could not be found or you don't have permission to view it.");
  if (!mayReadCode(project)) throw new GitRefusal(403, 'You are not allowed to download code from this project.');
  if (service === 'git-receive-pack') refusePush(project);
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
