/** Access of git clients: their credentials, and the refusals that they print (docs/reference/repository.md). */
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
import { refusal, uploadRefused } from '../rules.ts';

/** The owner of a repository has another path now. git follows a redirect of its first request, and sends all further ones to the new path. */
export class MovedGit extends ApiError {
  readonly full_path: string;
  constructor(full_path: string) {
    super(404, { message: `The project has moved to ${full_path}.` });
    this.full_path = full_path;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For a push over SSH that another site accepted and passed on: the key of its client. */
    ssh_key_id?: number;
  }
}

export const isPush = (service: Service): boolean => service === 'git-receive-pack';

/**
 * Authenticates the caller of a service.
 * @param serviceOf returns the service that a request is for; may refuse it
 */
export const gitCaller = <R extends RouteGenericInterface>(
  serviceOf: (request: FastifyRequest<R>) => Service,
): Identification<Caller, R> => ({
  identify: (services, request) =>
    request.ssh_key_id === undefined
      ? callerOfBasic(services, request, { passwords: true })
      : callerOfSshKey(services, request.ssh_key_id),
  scopes: (request) => gitScopes[isPush(serviceOf(request)) ? 'upload' : 'download'],
  insufficient: (request) =>
    refusal(403, isPush(serviceOf(request)) ? uploadRefused : 'You are not allowed to download code.'),
});

/** The refusal for a client with access to a repository that git cannot serve now. */
export function unservedRefusal(error: unknown): ApiError | undefined {
  if (error instanceof NoPlace)
    return new ApiError(503, { message: 'The server is too busy. Try again later.' }, { 'retry-after': '10' });
  if (error instanceof SlowSender) return refusal(408, 'The push was sent too slowly.');
  return error instanceof SlowReader ? refusal(408, 'The reply was read too slowly.') : undefined;
}

/**
 * Refuses a push to a repository that is being moved before its objects are sent. Later the check of the push refuses it, because git prints the text of the check, but not the
 * text of an HTTP reply to the objects.
 * @throws ApiError 403
 */
export const refuseEarly = (services: Services, granted: GitAccess): Promise<void> =>
  refuseWhileMoving(services.db, granted).catch((error: unknown) => {
    const text = refusedByMove(error);
    throw text === undefined ? error : refusal(403, text);
  });

/**
 * Checks that a caller may use a git service on a repository.
 * @param kinds the first kind that a path belongs to decides; the last kind accepts all other paths
 * @throws ApiError with the status and text documented for the kind
 */
export async function grantGit(services: Services, kinds: readonly GitKind[], request: GitRequest): Promise<GitAccess> {
  for (const kind of kinds) {
    const granted = await kind.grant(services, request);
    if (granted) return granted;
  }
  throw new Error('No kind of repositories has such paths.');
}

/** As `grantGit` for pushes, which always have a caller. */
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
 * The granted repository.
 * @throws ApiError 404 if it is missing on disk
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
