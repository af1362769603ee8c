/** HTTP Basic authentication of git and Git LFS: the token is the password, with any username unless it is a deploy token (docs/reference/access.md#credentials). */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../http/endpoint.ts';
import { ApiError, textOf } from '../http/errors.ts';
import type { Services } from '../services/index.ts';
import { callerOfToken } from './authentication.ts';
import { callerOfPassword, type Outside } from './sign_in.ts';

/** The scopes for fetching and pushing; one of them is needed. */
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

/** The username and the token from the password; undefined without credentials, both empty for unsupported ones. */
function basicCredential({
  headers,
}: Pick<FastifyRequest, 'headers'>): { username: string; value: string } | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const [, username, value = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return username ? { username, value } : { username: '', value: '' };
}

/** The token from the password; undefined without credentials, empty for unsupported ones. */
export const basicPassword = (request: Pick<FastifyRequest, 'headers'>): string | undefined =>
  basicCredential(request)?.value;

/**
 * Translates refusals for git: unknown and expired tokens become `basicRefused`, and reasons become plain sentences.
 * @throws ApiError 401, 403
 */
export async function basicCaller(services: Services, caller: () => Promise<Caller>): Promise<Caller> {
  try {
    return await caller();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) throw basicRefused(services.url);
    throw new ApiError(error.status, { message: textOf(error).replace('403 Forbidden - ', '') });
  }
}

/** A directory that is silent holds the request that asks it, and no place of others. */
export const outsideOf =
  ({ slot }: FastifyRequest): Outside =>
  async (work) => {
    slot?.pause();
    try {
      return await work();
    } finally {
      await slot?.resume();
    }
  };

/**
 * The caller of a request with Basic credentials; undefined without credentials.
 * @param options.job_scopes what tokens of jobs may be used for at this door; by default, fetching and pushing code
 * @param options.passwords whether the password of a user counts, too, as for git
 * @throws ApiError 401 for invalid credentials, 403 with the reason for a user who is not active
 */
export async function callerOfBasic(
  services: Services,
  request: FastifyRequest,
  { passwords, ...options }: { job_scopes?: readonly string[]; passwords?: true } = {},
): Promise<Caller | undefined> {
  const given = basicCredential(request);
  if (given === undefined) return undefined;
  if (given.value === '') throw basicRefused(services.url);
  const address = request.ip;
  return basicCaller(services, () =>
    callerOfToken(services, { ...given, ...options, address }).catch(async (error: unknown) => {
      const isUnknown = error instanceof ApiError && error.status === 401;
      const caller =
        isUnknown && passwords
          ? await callerOfPassword(services, given, { address, outside: outsideOf(request) })
          : undefined;
      if (!caller) throw error;
      return caller;
    }),
  );
}
