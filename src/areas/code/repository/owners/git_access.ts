/** Who may fetch and push: the credentials of git clients, and the refusals that they print (docs/reference/repository.md). */
import { access } from 'node:fs/promises';
import type { FastifyRequest, RouteGenericInterface } from 'fastify';
import { basicRefused, callerOfBasic, callerOfSshKey, gitScopes } from '../../../../access/index.ts';
import { refusedByMove } from '../../../../db/index.ts';
import { NoPlace } from '../../../../foundation/places.ts';
import { type Repository, type Service, SlowReader, SlowSender } from '../../../../git/index.ts';
import { ApiError, type Caller, type Identification, type Services } from '../../../../http/index.ts';
import type { GitAccess, GitKind, GitRequest } from '../definition.ts';
import { ownedRepository } from '../git.ts';
import { refuseWhileMoving } from '../moving/place_actions.ts';
import { refusal } from '../rules.ts';

/** The owner of a repository has another path now. git follows a redirect of its first request and sends all others there, too. */
export class MovedGit extends ApiError {
  readonly full_path: string;
  constructor(full_path: string) {
    super(404, { message: `The project has moved to ${full_path}.` });
    this.full_path = full_path;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a push over SSH that another site has taken and passed on: the key that its client has used. */
    ssh_key_id?: number;
  }
}

export const isPush = (service: Service): boolean => service === 'git-receive-pack';

/**
 * Who calls, for a service.
 * @param serviceOf the service that a request asks for; may refuse it
 */
export const gitCaller = <R extends RouteGenericInterface>(
  serviceOf: (request: FastifyRequest<R>) => Service,
): Identification<Caller, R> => ({
  identify: (services, request) =>
    request.ssh_key_id === undefined ? callerOfBasic(services, request) : callerOfSshKey(services, request.ssh_key_id),
  scopes: (request) => gitScopes[isPush(serviceOf(request)) ? 'upload' : 'download'],
  insufficient: (request) =>
    refusal(403, `You are not allowed to ${isPush(serviceOf(request)) ? 'upload' : 'download'} code.`),
});

/** The refusal for a client that was granted a repository and that git does not serve now. */
export function unservedRefusal(error: unknown): ApiError | undefined {
  if (error instanceof NoPlace)
    return new ApiError(503, { message: 'The server is too busy. Try again later.' }, { 'retry-after': '10' });
  if (error instanceof SlowSender) return refusal(408, 'The push was sent too slowly.');
  return error instanceof SlowReader ? refusal(408, 'The reply was read too slowly.') : undefined;
}

/**
 * Refuses a push to a repository that is being moved before anything of it is sent. Once its objects are on the way, the check of the push refuses it, because git
 * prints the text of that, and not of a reply to them.
 * @throws ApiError 403
 */
export const refuseEarly = (services: Services, granted: GitAccess): Promise<void> =>
  refuseWhileMoving(services.db, granted).catch((error: unknown) => {
    const text = refusedByMove(error);
    throw text === undefined ? error : refusal(403, text);
  });

/**
 * Checks that a caller may use a git service on a repository.
 * @param kinds of which the first that a path belongs to decides; the last takes all others
 * @throws ApiError with the status and text that the reference of the kind lists
 */
export async function grantGit(services: Services, kinds: readonly GitKind[], request: GitRequest): Promise<GitAccess> {
  for (const kind of kinds) {
    const granted = await kind.grant(services, request);
    if (granted) return granted;
  }
  throw new Error('No kind of repositories has such paths.');
}

/** As `grantGit` for pushing, which always has a caller. */
export async function grantPush(
  services: Services,
  kinds: readonly GitKind[],
  { caller, path }: Omit<GitRequest, 'service'>,
): Promise<GitAccess & { caller: Caller }> {
  const granted = await grantGit(services, kinds, { caller, path, service: 'git-receive-pack' });
  if (!caller) throw basicRefused(services.url);
  return { ...granted, caller };
}

/**
 * The repository of what was granted.
 * @throws ApiError 404 when it is missing on disk
 */
export async function repositoryFor(services: Services, granted: GitAccess): Promise<Repository> {
  const repository = ownedRepository(services, granted);
  try {
    await access(repository.path);
  } catch {
    throw refusal(404, `A repository for this ${granted.kind.name} does not exist yet.`);
  }
  return repository;
}
