/** HTTP Basic, as git and Git LFS send it: a token in the place of the password, beside any user name (repository.md section 6). */
import type { FastifyRequest } from 'fastify';
import type { Caller, Services } from '../http/endpoint.ts';
import { ApiError } from '../http/errors.ts';
import { callerOfToken } from './authentication.ts';

/** Of which scopes a token needs one, to fetch and to push. */
export const gitScopes = {
  download: ['api', 'write_repository', 'read_repository'],
  upload: ['api', 'write_repository'],
} as const;

/** The refusal that makes a git client ask its user for credentials. */
export const basicRefused = (url: string): ApiError =>
  new ApiError(
    401,
    {
      message:
        'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
        "you're required to use a token instead of a password. " +
        `If a token was provided, it was either incorrect, expired, or improperly scoped. See ${url}/docs`,
    },
    { 'www-authenticate': 'Basic realm="Coppice"' },
  );

/** The token in the place of a password; undefined without credentials, empty when they are none that we take. */
export function basicPassword({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const [, user, token = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return user ? token : '';
}

/**
 * Whom a refusal of a credential keeps out of git: what is unknown or has ended is answered as `basicRefused`, and a reason is a plain sentence.
 * @throws ApiError 401, 403
 */
export async function basicCaller(services: Services, caller: () => Promise<Caller>): Promise<Caller> {
  try {
    return await caller();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) throw basicRefused(services.url);
    const { message } = error.body as { message: string };
    throw new ApiError(error.status, { message: message.replace('403 Forbidden - ', '') });
  }
}

/**
 * The caller of a request with Basic credentials; undefined without any.
 * @throws ApiError 401 for credentials that are none, 403 with the reason for a user who is not active
 */
export async function callerOfBasic(services: Services, request: FastifyRequest): Promise<Caller | undefined> {
  const token = basicPassword(request);
  if (token === undefined) return undefined;
  if (token === '') throw basicRefused(services.url);
  return basicCaller(services, () => callerOfToken(services, token, request.ip));
}
